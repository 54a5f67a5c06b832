// The hash function BLAKE2b (RFC 7693), without a key, cut to 8 bytes.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

namespace supratok {

// hashlib.blake2b(data, digest_size=8, person=person), as a number whose first byte is the highest.
class Blake2b {
 public:
  static uint64_t digest(std::string_view data, std::string_view person = {}) {
    Blake2b hash(person);
    uint64_t done = 0;
    for (; data.size() > kBlock; data.remove_prefix(kBlock))
      hash.compress(data.data(), done += kBlock, false);
    char last[kBlock] = {};
    if (!data.empty()) std::memcpy(last, data.data(), data.size());
    hash.compress(last, done + data.size(), true);
    uint64_t number = 0;
    for (int byte = 0; byte < 8; ++byte) number = number << 8 | (hash.state_[0] >> 8 * byte & 0xff);
    return number;
  }

 private:
  static constexpr size_t kBlock = 128;
  static constexpr size_t kSize = 8;  // of the digest, in bytes
  static constexpr std::array<uint64_t, 8> kStart{
      0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
      0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
  // Section 2.7: the order of the words of a message in each round; rounds 10 and 11 repeat 0
  // and 1.
  static constexpr uint8_t kOrder[10][16] = {
      {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
      {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
      {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
      {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
      {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
      {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
      {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
      {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
      {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
      {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

  explicit Blake2b(std::string_view person) : state_(kStart) {
    // Section 2.5: the parameter block; a fan-out and a depth of 1 mean no tree.
    state_[0] ^= 1u << 24 | 1u << 16 | kSize;
    char padded[16] = {};
    if (!person.empty()) std::memcpy(padded, person.data(), std::min<size_t>(person.size(), 16));
    state_[6] ^= word(padded);
    state_[7] ^= word(padded + 8);
  }

  static uint64_t word(const char* bytes) {  // the lowest byte first
    uint64_t value;
    std::memcpy(&value, bytes, sizeof value);
    if constexpr (std::endian::native == std::endian::big) {
      uint64_t turned = 0;
      for (int byte = 0; byte < 8; ++byte) turned = turned << 8 | (value >> 8 * byte & 0xff);
      return turned;
    }
    return value;
  }

  using Words = uint64_t[16];
  // Inlined, so that the words of the state stay in registers: this halves the time.
  [[gnu::always_inline]] static void mix(uint64_t& a, uint64_t& b, uint64_t& c, uint64_t& d,
                                         uint64_t x, uint64_t y) {
    a += b + x;
    d = std::rotr(d ^ a, 32);
    c += d;
    b = std::rotr(b ^ c, 24);
    a += b + y;
    d = std::rotr(d ^ a, 16);
    c += d;
    b = std::rotr(b ^ c, 63);
  }
  template <size_t kRound>  // a constant, so that the words of the message are at known places
  [[gnu::always_inline]] static void round(Words& v, const Words& message) {
    constexpr const uint8_t* at = kOrder[kRound % 10];
    mix(v[0], v[4], v[8], v[12], message[at[0]], message[at[1]]);
    mix(v[1], v[5], v[9], v[13], message[at[2]], message[at[3]]);
    mix(v[2], v[6], v[10], v[14], message[at[4]], message[at[5]]);
    mix(v[3], v[7], v[11], v[15], message[at[6]], message[at[7]]);
    mix(v[0], v[5], v[10], v[15], message[at[8]], message[at[9]]);
    mix(v[1], v[6], v[11], v[12], message[at[10]], message[at[11]]);
    mix(v[2], v[7], v[8], v[13], message[at[12]], message[at[13]]);
    mix(v[3], v[4], v[9], v[14], message[at[14]], message[at[15]]);
  }

  // Section 3.2. `done`: the bytes of the data up to the end of this block.
  void compress(const char* block, uint64_t done, bool is_last) {
    Words v, message;
    for (size_t i = 0; i < 16; ++i) message[i] = word(block + 8 * i);
    for (size_t i = 0; i < 8; ++i) v[i] = state_[i], v[i + 8] = kStart[i];
    v[12] ^= done;
    if (is_last) v[14] = ~v[14];
    [&]<size_t... kRounds>(std::index_sequence<kRounds...>) {
      (round<kRounds>(v, message), ...);
    }(std::make_index_sequence<12>());
    for (size_t i = 0; i < 8; ++i) state_[i] ^= v[i] ^ v[i + 8];
  }

  std::array<uint64_t, 8> state_;
};

}  // namespace supratok
