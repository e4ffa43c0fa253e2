// The kernel: a sum along the last axis that forgets, y[t] = x[t] + decay * y[t - 1].

#include <cstdint>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

template <typename T>
static ffi::Error Sum(const T* in, T* out, int64_t rows, int64_t length, T decay, bool reverse) {
  for (int64_t row = 0; row < rows; ++row, in += length, out += length) {
    T sum = 0;
    for (int64_t step = 0; step < length; ++step) {
      const int64_t t = reverse ? length - 1 - step : step;
      sum = in[t] + decay * sum;
      out[t] = sum;
    }
  }
  return ffi::Error::Success();
}

static ffi::Error FadingSum(ffi::AnyBuffer x, ffi::Result<ffi::AnyBuffer> y, double decay,
                            bool reverse) {
  const auto dimensions = x.dimensions();
  // What the interface cannot check, the kernel does: its callers may be anybody's programs.
  if (dimensions.size() == 0 || x.element_type() != y->element_type() ||
      x.element_count() != y->element_count()) {
    return ffi::Error::InvalidArgument("fading_sum takes an array with an axis, and gives another");
  }
  const int64_t length = dimensions.back();
  const int64_t rows = length == 0 ? 0 : x.element_count() / length;
  switch (x.element_type()) {
    case ffi::F32:
      return Sum<float>(x.typed_data<float>(), y->typed_data<float>(), rows, length,
                        static_cast<float>(decay), reverse);
    case ffi::F64:
      return Sum<double>(x.typed_data<double>(), y->typed_data<double>(), rows, length, decay,
                         reverse);
    default:
      return ffi::Error::InvalidArgument("fading_sum takes float32 and float64");
  }
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(FadingSumHandler, FadingSum,
                              ffi::Ffi::Bind()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Attr<double>("decay")
                                  .Attr<bool>("reverse"));
