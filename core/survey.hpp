// What an encoder makes of documents: how often each entry is used, in how many documents, and
// which entries stand side by side how often.
//
// There are far more pairs than can be held. So a first reading bounds them in a sketch, and a
// second counts those exactly that may have been seen often enough.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "counts.hpp"
#include "encode.hpp"

namespace supratok {

class Survey {
 public:
  // Without a sketch (0 bits) pairs are not looked at.
  Survey(const Encoder& encoder, int sketch_bits);
  void add(const std::vector<std::string_view>& documents);

  std::vector<int64_t> uses, documents;  // by entry
  std::optional<PairSketch> pairs;

 private:
  const Encoder& encoder_;
  std::mutex lock_;
};

// Pairs of neighbouring entries that the survey saw perhaps `floor` times or more, counted.
class Neighbours {
 public:
  struct Row {
    uint32_t left, right;
    int64_t count;
  };
  Neighbours(const Encoder& encoder, const Survey& survey, uint32_t floor);
  void add(const std::vector<std::string_view>& documents);
  // Those seen so often indeed: most frequent first, equals by left, then right.
  std::vector<Row> rows() const;

 private:
  const Encoder& encoder_;
  const Survey& survey_;
  uint32_t floor_;
  SharedCounts counts_;
};

}  // namespace supratok
