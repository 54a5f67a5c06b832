// A long str from Python, in pieces.
#pragma once

#include "bind.hpp"
#include "utf8.hpp"

namespace supratok {

// The characters of a str, some at a time and without the GIL. Its UTF-8 would be a second copy of
// the text, which Python keeps as long as the str.
class Pieces {
 public:
  explicit Pieces(nb::handle text) : size_(static_cast<size_t>(PyUnicode_GetLength(text.ptr()))) {
#ifndef Py_LIMITED_API  // which does not say how a str keeps its characters
    if (PyUnicode_IS_ASCII(text.ptr())) return;  // it keeps UTF-8
    kind_ = PyUnicode_KIND(text.ptr());
    data_ = PyUnicode_DATA(text.ptr());
#endif
  }
  bool readable() const { return data_; }
  // Whether a character has no UTF-8.
  bool broken() const { return broken_; }

  // Appends the next piece as UTF-8; false if there is none.
  bool next(std::string& out) {
    if (at_ == size_) return false;
    const size_t count = std::min(kPiece, size_ - at_);
    room_.resize(4 * kPiece);
    const char* const end = kind_ == 1   ? write<uint8_t>(count)
                            : kind_ == 2 ? write<uint16_t>(count)
                                         : write<uint32_t>(count);
    broken_ = !end;
    if (end) out.append(room_.data(), static_cast<size_t>(end - room_.data()));
    at_ += count;
    return end;
  }

 private:
  static constexpr size_t kPiece = 1 << 15;
  template <class Char>
  const char* write(size_t count) {
    return write_utf8(static_cast<const Char*>(data_) + at_, count, room_.data());
  }

  std::vector<char> room_;
  const size_t size_;  // in characters, as `at_`
  size_t at_ = 0;
  int kind_ = 0;  // bytes a character
  const void* data_ = nullptr;
  bool broken_ = false;
};

}  // namespace supratok
