// A file that many threads read at any place while one appends to it.
#pragma once

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>

#if defined(__unix__) || defined(__APPLE__)
#include <fcntl.h>
#include <unistd.h>
#define SUPRATOK_POSIX
#else
#include <fstream>
#include <mutex>
#endif

namespace supratok {

// Becomes an OSError with the path.
struct FileError : std::runtime_error {
  FileError(int error, std::string which)
      : std::runtime_error(std::string(std::strerror(error)) +
                           "; see that its folder exists, may be written to and has room"),
        code(error), path(std::move(which)) {}
  int code;
  std::string path;
};

// CRC-32 with the polynomial of zlib, eight bytes at a time; `before` is that of the bytes before.
inline uint32_t crc32(std::string_view bytes, uint32_t before = 0) {
  using Tables = std::array<std::array<uint32_t, 256>, 8>;
  static const Tables tables = [] {
    Tables made{};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? 0xedb88320u : 0);
      made[0][i] = value;
    }
    for (uint32_t i = 0; i < 256; ++i)
      for (size_t t = 1; t < 8; ++t)
        made[t][i] = made[t - 1][i] >> 8 ^ made[0][made[t - 1][i] & 0xff];
    return made;
  }();
  uint32_t crc = ~before;
  const auto* p = reinterpret_cast<const unsigned char*>(bytes.data());
  size_t left = bytes.size();
  for (; left >= 8; left -= 8, p += 8) {
    const uint32_t low = crc ^ (p[0] | p[1] << 8 | p[2] << 16 | uint32_t{p[3]} << 24);
    crc = tables[7][low & 0xff] ^ tables[6][low >> 8 & 0xff] ^ tables[5][low >> 16 & 0xff] ^
          tables[4][low >> 24] ^ tables[3][p[4]] ^ tables[2][p[5]] ^ tables[1][p[6]] ^
          tables[0][p[7]];
  }
  for (; left; --left, ++p) crc = crc >> 8 ^ tables[0][(crc ^ *p) & 0xff];
  return ~crc;
}

class File {
 public:
  enum class Mode { kFresh, kExisting, kPrivate };  // a private file is removed with this object
  // Opens a file; a private one gets a name of its own in the folder `path`.
  File(const std::filesystem::path& path, Mode mode)
      : path_(mode == Mode::kPrivate ? path / own_name() : path), private_(mode == Mode::kPrivate) {
#ifdef SUPRATOK_POSIX
    const int how = mode == Mode::kFresh ? O_TRUNC : mode == Mode::kPrivate ? O_EXCL : 0;
    file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | how,
                   mode == Mode::kPrivate ? 0600 : 0666);
    if (file_ < 0) fail();
#else
    if (mode != Mode::kExisting || !std::filesystem::exists(path_))
      std::ofstream(path_, std::ios::binary | std::ios::trunc);
    file_.open(path_, std::ios::binary | std::ios::in | std::ios::out);
    if (!file_) fail();
#endif
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
#ifdef SUPRATOK_POSIX
    ::close(file_);
#else
    file_.close();
#endif
    std::error_code ignored;
    if (private_) std::filesystem::remove(path_, ignored);
  }

  void write(std::string_view bytes, uint64_t at) {
#ifdef SUPRATOK_POSIX
    while (!bytes.empty()) {
      const ssize_t done = ::pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(at));
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) fail();
      bytes.remove_prefix(static_cast<size_t>(done));
      at += static_cast<uint64_t>(done);
    }
#else
    const std::lock_guard guard(lock_);
    file_.clear();
    file_.seekp(static_cast<std::streamoff>(at));
    if (!file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()))) fail();
#endif
  }

  // Fills `size` bytes, or returns false: the file is too short.
  bool read(char* bytes, size_t size, uint64_t at) const {
#ifdef SUPRATOK_POSIX
    while (size) {
      const ssize_t done = ::pread(file_, bytes, size, static_cast<off_t>(at));
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) fail();
      if (done == 0) return false;
      bytes += done;
      size -= static_cast<size_t>(done);
      at += static_cast<uint64_t>(done);
    }
    return true;
#else
    const std::lock_guard guard(lock_);
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(at));
    return static_cast<bool>(file_.read(bytes, static_cast<std::streamsize>(size)));
#endif
  }

  void sync() {  // what was written outlives a loss of power
#ifdef SUPRATOK_POSIX
    if (::fsync(file_)) fail();
#else
    const std::lock_guard guard(lock_);
    if (!file_.flush()) fail();
#endif
  }

  uint64_t size() const {
    std::error_code error;
    const uint64_t size = std::filesystem::file_size(path_, error);
    if (error) throw FileError(error.value(), path_.string());
    return size;
  }
  void truncate(uint64_t size) {
    std::error_code error;
    std::filesystem::resize_file(path_, size, error);
    if (error) throw FileError(error.value(), path_.string());
  }
  std::string path() const { return path_.string(); }

 private:
  static std::string own_name() {
    std::random_device random;
    return "supratok-" + std::to_string(random()) + "-" + std::to_string(random()) + ".blocks";
  }
  [[noreturn]] void fail() const { throw FileError(errno ? errno : EIO, path_.string()); }

  std::filesystem::path path_;
  bool private_;
#ifdef SUPRATOK_POSIX
  int file_ = -1;
#else
  mutable std::fstream file_;
  mutable std::mutex lock_;
#endif
};

}  // namespace supratok
