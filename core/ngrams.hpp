// Counting n-grams: windows of neighbouring symbols in weighted sequences, seen often enough.
//
// Level by level. A window of n symbols can be frequent only if its first and its last n-1 are; so
// each level numbers its frequent windows, writes the numbers where the windows begin, and a window
// of the next level is a pair of neighbouring numbers. All levels are the same small step: count
// the pairs in a table, keep the frequent ones.
//
//   sequences  a b c (5 times) · b c d (2 times), at least 5 times
//   level 2    ab:5 bc:7 cd:2  ->  the sequences become  ab bc (5 times)
//   level 3    abc:5
#pragma once

#include <cstdint>
#include <vector>

#include "sequences.hpp"

namespace supratok {

// The frequent n-grams by length, those of one length in the order of their symbols. They are
// numbered behind the symbols: the first is number `symbols`.
struct Ngrams {
  std::vector<uint32_t> lefts, rights;  // of each, the number of its first and its last n-1 symbols
  std::vector<int64_t> counts;
  std::vector<int64_t> tried;     // how many different windows were counted, by length from 2
  std::vector<int64_t> frequent;  // how many of them were frequent
};

// Windows of 2 to `longest` symbols that occur at least `min_count` times in the sequences, each
// sequence counted by its weight. Windows that overlap all count: a a a holds "a a" twice.
Ngrams count_ngrams(Sequences sequences, uint32_t symbols, size_t longest, int64_t min_count);

}  // namespace supratok
