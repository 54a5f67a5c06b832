// Ids to text: those that an encoder makes, and others that it does not know.
#pragma once

#include <unordered_map>

#include "encode.hpp"

namespace supratok {

class Decoder {
 public:
  // `ids` are those of `texts`, of which the first so many are special tokens. `prefixed`: encoding
  // puts a space before each text, after its special tokens, and decoding takes it off.
  Decoder(const Encoder& encoder, const Numbers& ids, const Texts& texts, size_t special,
          bool prefixed)
      : encoder_(encoder), prefixed_(prefixed) {
    if (ids.size() != texts.size()) throw std::invalid_argument("as many ids as texts");
    for (size_t i = 0; i < ids.size(); ++i)
      others_.emplace(ids[i], Other{std::string(texts[i]), i < special});
  }

  // The bytes of ids, with the special tokens among them or without.
  void decode(const Numbers& ids, bool skip_special, std::string& bytes) const {
    bytes.clear();
    size_t begin = 0, step = 0;  // of what follows the first special tokens
    bool begun = false;
    for (const uint32_t id : ids) {
      breathe(++step);
      if (encoder_.knows(id)) {
        begun = true;
        bytes += encoder_.bytes_of(id);
        continue;
      }
      const auto found = others_.find(id);
      if (found == others_.end())
        throw std::out_of_range("no token has the id " + std::to_string(id));
      const auto& [text, special] = found->second;
      if (special && skip_special) continue;
      begun |= !special;
      bytes += text;
      if (!begun) begin = bytes.size();
    }
    if (prefixed_ && begin < bytes.size() && bytes[begin] == ' ') bytes.erase(begin, 1);
  }

 private:
  struct Other {
    std::string text;
    bool special;
  };
  const Encoder& encoder_;
  bool prefixed_;
  std::unordered_map<uint32_t, Other> others_;  // by id
};

}  // namespace supratok
