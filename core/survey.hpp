// How an encoder encodes documents: how often each entry is used, in how many documents, and which
// entries are neighbours how often.
//
// There are far more pairs than fit into memory. So a first reading bounds them in a sketch, and a
// second counts those exactly that may have been seen often enough.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <tuple>
#include <vector>

#include "encode.hpp"
#include "pair_sketch.hpp"
#include "text.hpp"
#include "text_counts.hpp"

namespace supratok {

class Survey {
 public:
  // With a sketch of 0 bits it ignores pairs.
  Survey(const Encoder& encoder, int sketch_bits);
  void add(const Texts& documents);

  std::vector<int64_t> uses, documents;  // by entry
  std::optional<PairSketch> pairs;

 private:
  const Encoder& encoder_;
  std::mutex lock_;
};

// Counts the pairs of neighbouring entries that the survey may have seen `floor` times or more.
class Neighbours {
 public:
  Neighbours(const Encoder& encoder, const Survey& survey, uint32_t floor);
  void add(const Texts& documents);
  // Left entries, right entries and counts of the pairs that were indeed seen so often: most
  // frequent first, equals by left, then right.
  std::tuple<std::vector<uint32_t>, std::vector<uint32_t>, std::vector<int64_t>> rows() const;

 private:
  const Encoder& encoder_;
  const Survey& survey_;
  uint32_t floor_;
  SharedCounts counts_;
};

}  // namespace supratok
