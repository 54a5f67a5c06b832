// Lines of JSON become documents, on the threads that count them.
//
// A `Sieve` decides what happens to each line: its document is counted, held out or not part of the
// sample. It does so only where there can be no doubt: a line that is not strictly JSON, an object,
// with one string under the key, is odd, and goes back to Python, which knows every exception and
// every message.
#pragma once

#include "sample.hpp"
#include "threads.hpp"

namespace supratok {

// Finds the text in one line of JSON.
class JsonLine {
 public:
  // False: the line is odd. A blank line is an empty text. Where a text has escapes, it lies in
  // `room`, which must have room for the whole line.
  // Invariant: behind the line follows a newline or a NUL. None of both is part of a line of JSON,
  // so no loop runs past the end.
  static bool read(std::string_view line, std::string_view key, std::string& room,
                   std::string_view& text) {
    if (line.find_first_not_of(" \t\r\v\f") == line.npos) return true;
    const size_t before = room.size();
    const bool found = JsonLine(line, room).record(key, text);
    if (!found) room.resize(before);
    return found;
  }

 private:
  static constexpr int kDeepest = 64;        // Python's own limit lies further on
  static constexpr size_t kLongest = 1'000;  // digits of a number; as above

  JsonLine(std::string_view line, std::string& room)
      : at_(line.data()), end_(line.data() + line.size()), room_(room) {}

  // The whole line. Each of these functions reads a part of it, and says whether that is all right.
  bool record(std::string_view key, std::string_view& text) {
    bool found = false;
    white();
    if (!take('{')) return false;
    do {
      white();
      const char* const start = at_ + 1;
      bool escaped = false;
      if (!string(nullptr, &escaped) || escaped) return false;  // "te\u0078t" is a "text"
      const std::string_view name(start, static_cast<size_t>(at_ - 1 - start));
      if (!colon()) return false;
      if (name != key) {
        if (!value(1)) return false;
      } else if (std::exchange(found, true) || !string(&text, nullptr)) {
        return false;
      }
      white();
    } while (take(','));
    if (!take('}')) return false;
    white();
    return found && at_ == end_;
  }

  void white() {
    while (*at_ == ' ' || *at_ == '\t' || *at_ == '\r') ++at_;
  }
  bool take(char wanted) {
    const bool is = *at_ == wanted;
    at_ += is;
    return is;
  }
  bool take(std::string_view wanted) {
    for (const char one : wanted)
      if (!take(one)) return false;
    return true;
  }
  bool colon() {
    white();
    if (!take(':')) return false;
    white();
    return true;
  }

  bool value(int depth) {
    switch (*at_) {
      case '"': return string(nullptr, nullptr);
      case '{':
        return depth < kDeepest &&
               list(
                   '{', '}',
                   [&] { return string(nullptr, nullptr) && colon() && value(depth + 1); });
      case '[': return depth < kDeepest && list('[', ']', [&] { return value(depth + 1); });
      case 't': return take("true");
      case 'f': return take("false");
      case 'n': return take("null");
      default: return number();
    }
  }
  template <class Item>
  bool list(char open, char close, Item item) {
    take(open);
    white();
    if (take(close)) return true;
    do {
      white();
      if (!item()) return false;
      white();
    } while (take(','));
    return take(close);
  }
  bool number() {
    const char* const start = at_;
    take('-');
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      if (!digits()) return false;
    }
    return static_cast<size_t>(at_ - start) <= kLongest;
  }
  bool digits() {
    const char* const start = at_;
    while (*at_ >= '0' && *at_ <= '9') ++at_;
    return at_ != start;
  }

  // `text` receives the string, where it is wanted.
  bool string(std::string_view* text, bool* escaped) {
    if (!take('"')) return false;
    const size_t before = room_.size();
    const char* run = at_;  // the beginning of what is not yet in the room
    bool any = false;
    while (true) {
      plain();
      if (*at_ == '"') break;
      if (*at_ == '\\') {
        if (text) room_.append(run, at_);
        any = true;
        if (!escape(text != nullptr)) return false;
        run = at_;
      } else if (!multibyte()) {
        return false;
      }
    }
    if (escaped) *escaped = any;
    if (text && any) room_.append(run, at_);
    if (text && any) *text = std::string_view(room_).substr(before);
    if (text && !any) *text = {run, at_};
    ++at_;
    return true;
  }

  // Skips ASCII that stands for itself.
  void plain() {
    while (end_ - at_ >= 8 && are_plain(at_)) at_ += 8;
    while (static_cast<signed char>(*at_) >= 0x20 && *at_ != '"' && *at_ != '\\') ++at_;
  }
  static bool are_plain(const char* eight) {
    constexpr uint64_t each = 0x0101010101010101, high = each * 0x80;
    uint64_t bytes;
    std::memcpy(&bytes, eight, sizeof bytes);
    const auto any_zero = [&](uint64_t of) { return (of - each) & ~of & high; };
    const uint64_t control = (bytes - each * 0x20) & ~bytes & high;
    return !((bytes & high) | control | any_zero(bytes ^ each * '"') |
             any_zero(bytes ^ each * '\\'));
  }

  // A character of UTF-8 beyond ASCII, in its shortest form and no surrogate (RFC 3629, section 4).
  bool multibyte() {
    const auto byte = [&](int i) { return static_cast<unsigned char>(at_[i]); };
    const auto within = [&](int i, int low, int high) { return byte(i) >= low && byte(i) <= high; };
    const int lead = byte(0);
    int size = 0;
    if (lead >= 0xc2 && lead <= 0xdf) {
      size = within(1, 0x80, 0xbf) ? 2 : 0;
    } else if (lead >= 0xe0 && lead <= 0xef) {
      const bool second = within(1, lead == 0xe0 ? 0xa0 : 0x80, lead == 0xed ? 0x9f : 0xbf);
      size = second && within(2, 0x80, 0xbf) ? 3 : 0;
    } else if (lead >= 0xf0 && lead <= 0xf4) {
      const bool second = within(1, lead == 0xf0 ? 0x90 : 0x80, lead == 0xf4 ? 0x8f : 0xbf);
      size = second && within(2, 0x80, 0xbf) && within(3, 0x80, 0xbf) ? 4 : 0;
    }
    at_ += size;
    return size > 0;
  }

  bool escape(bool wanted) {
    static constexpr std::string_view names = "\"\\/bfnrt", values = "\"\\/\b\f\n\r\t";
    ++at_;
    if (take('u')) return code_point(wanted);
    const size_t place = names.find(*at_);
    if (place == names.npos) return false;
    ++at_;
    if (wanted) room_ += values[place];
    return true;
  }
  bool code_point(bool wanted) {
    uint32_t code = 0, low = 0;
    if (!hex(code) || (code >= 0xdc00 && code <= 0xdfff)) return false;
    if (code >= 0xd800 && code <= 0xdbff) {
      if (!take("\\u") || !hex(low) || low < 0xdc00 || low > 0xdfff) return false;
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    if (wanted) room_ += encode_char(code);
    return true;
  }
  bool hex(uint32_t& code) {
    for (int i = 0; i < 4; ++i, ++at_) {
      const char digit = *at_;
      if (digit >= '0' && digit <= '9')
        code = code << 4 | static_cast<uint32_t>(digit - '0');
      else if ((digit >= 'a' && digit <= 'f') || (digit >= 'A' && digit <= 'F'))
        code = code << 4 | (static_cast<uint32_t>(digit | 0x20) - 'a' + 10);
      else
        return false;
    }
    return true;
  }

  const char *at_, *end_;
  std::string& room_;
};

// What lines of JSON are sifted by, and what was found so far. Many threads use it at once.
class Sieve {
 public:
  struct Rules {
    std::string key;                   // of the text
    size_t longest;                    // bytes of a line; a longer one is odd
    std::optional<uint64_t> hold_out;  // texts with a digest up to this are held out
    std::optional<uint64_t> sample;    // texts with a chance up to this are in the sample
  };
  struct Odd {
    size_t file, number;  // of the line in its file, from 1
    std::string line;     // with its end
  };
  struct HeldOut {
    std::string text;
    uint64_t digest;
  };
  struct Found {
    size_t documents = 0, held_out = 0, characters = 0;  // characters to train on
    std::vector<Odd> odd;
    std::vector<HeldOut> texts;  // that are held out
  };

  explicit Sieve(Rules rules) : rules(std::move(rules)) {}

  void add(Found& found) {
    const std::lock_guard guard(lock_);
    found_.documents += found.documents;
    found_.held_out += found.held_out;
    found_.characters += found.characters;
    std::move(found.odd.begin(), found.odd.end(), std::back_inserter(found_.odd));
    std::move(found.texts.begin(), found.texts.end(), std::back_inserter(found_.texts));
  }
  // What was found since the last call.
  Found take() {
    const std::lock_guard guard(lock_);
    return std::exchange(found_, {});
  }

  void begin() {
    const std::lock_guard guard(lock_);
    ++under_way_;
  }
  void end() noexcept {
    const std::lock_guard guard(lock_);
    --under_way_;
    changed_.notify_all();
  }
  // Waits until no lines are under way.
  void wait() {
    std::unique_lock guard(lock_);
    while (!changed_.wait_for(guard, kBreath, [&] { return under_way_ == 0; })) {
      guard.unlock();
      breathe();
      guard.lock();
    }
  }

  const Rules rules;

 private:
  std::mutex lock_;
  std::condition_variable changed_;
  Found found_;
  size_t under_way_ = 0;
};

// Some whole lines of a file, on their way to a thread that counts their documents.
class Lines : public Raw {
 public:
  Lines(std::shared_ptr<Sieve> sieve, size_t file, size_t first, std::string data)
      : sieve_(std::move(sieve)), file_(file), number_(first), data_(std::move(data)) {}
  ~Lines() override {
    if (under_way_) sieve_->end();
  }
  void begin() {
    sieve_->begin();
    under_way_ = true;
  }

  const Texts& texts() override {
    room_.reserve(data_.size());
    Sieve::Found found;
    for (size_t start = 0; start < data_.size(); ++number_) {
      breathe(number_);
      const size_t end = std::min(data_.find('\n', start), data_.size());
      if (!sift({&data_[start], end - start}, found))
        found.odd.push_back({file_, number_, data_.substr(start, end + 1 - start)});
      start = end + 1;
    }
    sieve_->add(found);
    return texts_;
  }

 private:
  // False: the line is odd.
  bool sift(std::string_view line, Sieve::Found& found) {
    std::string_view text;
    const Sieve::Rules& rules = sieve_->rules;
    if (line.size() > rules.longest || !JsonLine::read(line, rules.key, room_, text)) return false;
    if (!text.empty()) decide(text, found);
    return true;
  }
  void decide(std::string_view text, Sieve::Found& found) {
    const Sieve::Rules& rules = sieve_->rules;
    const uint64_t digest = digest_of(text);
    if (rules.sample && sample_chance(digest) > *rules.sample) return;
    ++found.documents;
    if (rules.hold_out && digest <= *rules.hold_out) {
      ++found.held_out;
      found.texts.push_back({std::string(text), digest});
      return;
    }
    found.characters += static_cast<size_t>(std::count_if(text.begin(), text.end(), leads_char));
    texts_.push_back(text);
  }

  std::shared_ptr<Sieve> sieve_;
  size_t file_, number_;  // of the next line
  std::string data_, room_;
  Texts texts_;
  bool under_way_ = false;
};

}  // namespace supratok
