#include "text_counts.hpp"

#include <stdexcept>

namespace supratok {

Columns sorted(std::vector<TextCount> rows) {
  std::sort(rows.begin(), rows.end(), [](const TextCount& a, const TextCount& b) {
    if (a.count != b.count) return a.count > b.count;
    if (a.text.size() != b.text.size()) return a.text.size() < b.text.size();
    return a.text < b.text;
  });
  Columns columns;
  for (const auto& [text, count] : rows) {
    columns.first.push_back(text);
    columns.second.push_back(count);
  }
  return columns;
}

// --- TextCounts

void TextCounts::append(std::string_view text, uint64_t hash, int64_t count) {
  if (text.size() > 0xffffffffu) throw std::length_error("a word or run of more than 4 GB");
  if (size_ == rows_.size() * kBlockRows)
    rows_.push_back(std::make_unique_for_overwrite<Row[]>(kBlockRows));
  index_.add(hash, static_cast<uint32_t>(size_));
  row(size_++) = {keep(text), count, static_cast<uint32_t>(text.size())};
}

const char* TextCounts::keep(std::string_view text) {
  if (borrows_) return text.data();
  if (text.size() > block_left_) {
    block_left_ = std::max(kBlock, text.size());
    texts_.push_back(std::make_unique_for_overwrite<char[]>(block_left_));
    block_at_ = texts_.back().get();
  }
  char* kept = block_at_;
  std::memcpy(kept, text.data(), text.size());
  block_at_ += text.size();
  block_left_ -= text.size();
  return kept;
}

void TextCounts::clear() {
  index_.clear(index_.slots());
  size_ = 0;
  texts_.clear();
  block_left_ = 0;
}

std::vector<TextCount> TextCounts::take_rows() {
  std::vector<TextCount> all;
  all.reserve(size_);
  each([&](std::string_view text, int64_t count) { all.push_back({text, count}); });
  index_ = FlatIndex();
  rows_.clear();
  size_ = 0;
  return all;
}

// --- SharedCounts

void SharedCounts::add(const Batch& batch) {
  for (size_t p = 0; p < kParts; ++p) {
    const std::lock_guard guard(parts_[p].lock);
    const auto& rows = batch.rows_[p];
    TextCounts& counts = parts_[p].counts;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (i + 8 < rows.size()) counts.prefetch(rows[i + 8].hash);
      counts.add(rows[i].text, rows[i].hash, rows[i].count);
    }
  }
}

int64_t SharedCounts::find(std::string_view text) const {
  const uint64_t hash = hash_bytes(text);
  return parts_[part_of(hash)].counts.find(text, hash);
}

size_t SharedCounts::size() const {
  size_t total = 0;
  for (const Part& part : parts_) total += part.counts.size();
  return total;
}

void SharedCounts::sort(Rows& parts) {
  for (auto& rows : parts)
    std::sort(rows.begin(), rows.end(),
              [](const TextCount& a, const TextCount& b) { return a.count < b.count; });
}

SharedCounts::Rows SharedCounts::changed_rows(const TextCounts& changes) const {
  Rows parts;
  for (size_t p = 0; p < kParts; ++p) {
    parts[p].reserve(parts_[p].counts.size());
    parts_[p].counts.each([&](std::string_view text, int64_t count) {
      if (changes.size()) count += changes.find(text, hash_bytes(text));
      parts[p].push_back({text, count});
    });
  }
  changes.each([&](std::string_view text, int64_t count) {
    if (!find(text)) parts[part_of(hash_bytes(text))].push_back({text, count});
  });
  sort(parts);
  return parts;
}

SharedCounts::Rows SharedCounts::take_rows() {
  Rows parts;
  for (size_t p = 0; p < kParts; ++p) parts[p] = parts_[p].counts.take_rows();
  return_freed_memory();
  sort(parts);
  return parts;
}

}  // namespace supratok
