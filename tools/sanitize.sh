#!/usr/bin/env bash
# Builds the core with the address and undefined-behaviour sanitizers and runs its tests under them.
# usage: tools/sanitize.sh PYTHON   (a Python with the development extras, as in .venv)
set -euo pipefail
cd "$(dirname "$0")/.."
python=$(realpath -s "$1")
bin=$(dirname "$python")
folder=build/sanitize
"$bin/cmake" -S . -B "$folder" -G Ninja -DSUPRATOK_SANITIZE=ON \
  -DCMAKE_MAKE_PROGRAM="$bin/ninja" -DPython_EXECUTABLE="$python" > /dev/null
"$bin/ninja" -C "$folder" --quiet
rm -rf "$folder/package" && mkdir -p "$folder/package"
cp -r src/supratok "$folder/package/"
cp "$folder"/_core*.so "$folder/package/supratok/common/"
preload="$(c++ -print-file-name=libasan.so) $(c++ -print-file-name=libubsan.so)"
ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
  LD_PRELOAD="$preload" PYTHONPATH="$folder/package" \
  "$python" -m pytest -p no:cacheprovider tests/core tests/tokenizer tests/test_train.py \
  tests/corpus/test_curate.py tests/learn/test_seeds.py tests/learn/test_scripts.py tests/learn/test_refine.py
