# Included by the build of llama.cpp. The helpers that its own programs share (command line, download, chat parsers) take as
# long to build as the library and are not used; the crate llama-cpp-2 asks for them and has no feature that leaves them out.
set(LLAMA_BUILD_COMMON OFF CACHE BOOL "" FORCE)
