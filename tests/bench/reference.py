"""Embeds texts with sentence-transformers, for the benchmark `encoder` to compare with.

Takes the folder of the model; on standard input a line with a JSON list of texts, then a line per round.
Gives a line when ready, and a line of JSON per round: seconds, processor seconds, and the vectors.
"""

import json
import os
import sys
import time

os.environ["HF_HUB_OFFLINE"] = "1"

import sentence_transformers
import torch
from sentence_transformers import models

transformer = models.Transformer(sys.argv[1], max_seq_length=256)
pooling = models.Pooling(transformer.auto_model.config.hidden_size)
encoder = sentence_transformers.SentenceTransformer(
    modules=[transformer, pooling, models.Normalize()], device="cpu"
)
texts = json.loads(sys.stdin.readline())
encoder.encode(texts[:32])
print(
    f"sentence-transformers {sentence_transformers.__version__}, torch {torch.__version__}, "
    f"{torch.get_num_threads()} threads",
    flush=True,
)
for _ in sys.stdin:
    wall, cpu = time.perf_counter(), time.process_time()
    vectors = encoder.encode(texts)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(json.dumps({"wall": wall, "cpu": cpu, "vectors": vectors.tolist()}), flush=True)
