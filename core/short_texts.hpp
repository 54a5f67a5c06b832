// Texts of up to 16 bytes, numbered. They lie in the table itself, so finding one reads one place,
// and the processor looks for many at once: it need not guess how long they are.
#pragma once

#include "flat_map.hpp"

namespace supratok {

class ShortTexts {
 public:
  static constexpr uint32_t kNone = FlatIndex::kNone;
  static constexpr size_t kLongest = 16;

  void make_room(size_t texts) {
    slots_.resize(std::bit_ceil(texts * 2 + 16));
    shift_ = 64 - std::countr_zero(slots_.size());
  }
  // Texts must be readable up to 16 bytes. Those that are added first are found fastest.
  void add(const char* text, size_t size, uint32_t number) {
    const Key key(text, size);
    size_t i = key.hash() >> shift_;
    while (slots_[i].size) i = (i + 1) & (slots_.size() - 1);
    slots_[i] = {key, number, static_cast<uint32_t>(size)};
  }
  uint32_t find(const char* text, size_t size) const {
    const Key key(text, size);
    for (size_t i = key.hash() >> shift_;; i = (i + 1) & (slots_.size() - 1)) {
      const Slot& slot = slots_[i];
      if (slot.key.same(key) & (slot.size == size)) return slot.number;
      if (!slot.size) return kNone;
    }
  }

 private:
  struct Key {  // the bytes, and zeros behind them
    uint64_t first = 0, second = 0;

    Key() = default;
    Key(const char* text, size_t size)
        : first(load<uint64_t>(text) & kMasks[size + 8]),
          second(load<uint64_t>(text + 8) & kMasks[size]) {}
    bool same(const Key& other) const {
      return ((first ^ other.first) | (second ^ other.second)) == 0;
    }
    uint64_t hash() const {
      const uint64_t mixed = (first + std::rotl(second, 5)) * 0x9e3779b97f4a7c15ull;
      return (mixed ^ mixed >> 29) * 0xd6e8feb86659fd93ull;
    }
  };
  struct alignas(32) Slot {
    Key key;
    uint32_t number = kNone, size = 0;  // 0: an empty slot
  };

  // By size: what remains of the bytes 8 to 15; by size + 8: of the first eight.
  static constexpr auto kMasks = [] {
    std::array<uint64_t, 25> masks{};
    for (size_t i = 9; i < masks.size(); ++i)
      masks[i] = i >= 16 ? ~uint64_t{0} : (uint64_t{1} << 8 * (i - 8)) - 1;
    return masks;
  }();

  LargeVector<Slot> slots_;
  int shift_ = 0;
};

}  // namespace supratok
