/* The least that reads a prompt and generates with llama.cpp: what the program's engine is measured against.
 *
 * bare MODEL TEXT THREADS CONTEXT BATCH GENERATED; then for every line with a step on standard input one round: the text
 * is read in pieces of that many tokens, GENERATED tokens are taken greedily, and one line is printed: tokens of the
 * text, seconds for reading them, tokens generated, seconds for generating them. The first line printed is what
 * llama.cpp was built with.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "llama.h"

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void die(const char *what) {
    fprintf(stderr, "bare: %s\n", what);
    exit(1);
}

static void quiet(enum ggml_log_level level, const char *text, void *unused) {
    (void)unused;
    if (level >= GGML_LOG_LEVEL_ERROR || getenv("BARE_LOG")) fputs(text, stderr);
}

static void decode(struct llama_context *context, llama_token *tokens, int count) {
    if (llama_decode(context, llama_batch_get_one(tokens, count))) die("llama_decode failed");
}

static llama_token likeliest(struct llama_context *context, int vocabulary) {
    const float *logits = llama_get_logits_ith(context, -1);
    int best = 0;
    for (int token = 1; token < vocabulary; token++)
        if (logits[token] > logits[best]) best = token;
    return best;
}

int main(int count, char **arguments) {
    if (count != 7) die("MODEL TEXT THREADS CONTEXT BATCH GENERATED");
    static char text[1 << 20];
    FILE *file = fopen(arguments[2], "rb");
    if (!file) die("the text cannot be read");
    int length = (int)fread(text, 1, sizeof text, file);
    fclose(file);
    llama_log_set(quiet, NULL);
    llama_backend_init();
    struct llama_model *model = llama_model_load_from_file(arguments[1], llama_model_default_params());
    if (!model) die("the model cannot be loaded");
    struct llama_context_params params = llama_context_default_params();
    params.n_threads = params.n_threads_batch = atoi(arguments[3]);
    params.n_ctx = atoi(arguments[4]);
    params.n_batch = params.n_ubatch = atoi(arguments[5]);
    params.no_perf = true;
    struct llama_context *context = llama_init_from_model(model, params);
    if (!context) die("no context");
    const struct llama_vocab *vocab = llama_model_get_vocab(model);
    int vocabulary = llama_vocab_n_tokens(vocab), generated = atoi(arguments[6]);
    llama_token *tokens = malloc((length + 1) * sizeof *tokens);
    int total = llama_tokenize(vocab, text, length, tokens, length + 1, false, false);
    if (total < 1 || total + generated > atoi(arguments[4])) die("the text does not fit the context");
    printf("%s\n", llama_print_system_info());
    fflush(stdout);
    char line[64];
    while (fgets(line, sizeof line, stdin)) {
        int step = atoi(line), made = 0;
        if (step < 1) die("a step has at least one token");
        llama_memory_clear(llama_get_memory(context), true);
        double start = now();
        for (int at = 0; at < total; at += step)
            decode(context, tokens + at, total - at < step ? total - at : step);
        llama_token token = likeliest(context, vocabulary);
        double read = now();
        while (++made < generated && !llama_vocab_is_eog(vocab, token)) {
            decode(context, &token, 1);
            token = likeliest(context, vocabulary);
        }
        printf("%d %.6f %d %.6f\n", total, read - start, made - 1, now() - read);
        fflush(stdout);
    }
    return 0;
}
