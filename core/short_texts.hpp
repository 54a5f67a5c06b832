// Texts of up to 16 bytes, numbered. They lie in the table itself, so finding one reads one place,
// and the processor looks for many at once.
#pragma once

#include "flat_map.hpp"

namespace supratok {

// Of more than 8 * (kChunks - 1) and up to 8 * kChunks bytes.
template <size_t kChunks>
class ShortTexts {
 public:
  static constexpr uint32_t kNone = FlatIndex::kNone;

  void make_room(size_t texts) {
    slots_.resize(std::bit_ceil(texts * 2 + 16));
    shift_ = 64 - std::countr_zero(slots_.size());
  }
  // Texts must be readable up to 8 * kChunks bytes. Those that are added first are found fastest.
  void add(const char* text, size_t size, uint32_t number) {
    const Chunks chunks = chunks_of(text, size);
    size_t i = place(chunks, size);
    while (slots_[i].size) i = (i + 1) & (slots_.size() - 1);
    slots_[i] = {chunks, number, static_cast<uint32_t>(size)};
  }
  uint32_t find(const char* text, size_t size) const {
    const Chunks chunks = chunks_of(text, size);
    for (size_t i = place(chunks, size);; i = (i + 1) & (slots_.size() - 1)) {
      const Slot& slot = slots_[i];
      bool same = slot.size == size;
      for (size_t c = 0; c < kChunks; ++c) same &= slot.chunks[c] == chunks[c];
      if (same) return slot.number;
      if (!slot.size) return kNone;
    }
  }

 private:
  using Chunks = std::array<uint64_t, kChunks>;  // the bytes, and zeros behind them
  struct Slot {
    Chunks chunks{};
    uint32_t number = kNone, size = 0;  // 0: an empty slot
  };

  static Chunks chunks_of(const char* text, size_t size) {
    Chunks chunks;
    for (size_t c = 0; c < kChunks; ++c) chunks[c] = load<uint64_t>(text + 8 * c);
    chunks.back() &= ~uint64_t{0} >> 8 * (8 * kChunks - size);
    return chunks;
  }
  size_t place(const Chunks& chunks, size_t size) const {
    uint64_t hash = size;
    for (const uint64_t chunk : chunks) {
      hash = (hash ^ chunk) * 0x9e3779b97f4a7c15ull;
      hash ^= hash >> 32;
    }
    return hash * 0xd6e8feb86659fd93ull >> shift_;
  }

  LargeVector<Slot> slots_;
  int shift_ = 0;
};

}  // namespace supratok
