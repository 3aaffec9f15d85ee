// A small plot with two logarithmic axes, as SVG elements in the coordinates of the whole image.
#ifndef RESMEM_LAB_THEORY_LOG_AXES_H_
#define RESMEM_LAB_THEORY_LOG_AXES_H_

#include <string>
#include <string_view>
#include <vector>

#include "theory/simulation.h"

namespace resmem {

struct Box {
  double left = 0, top = 0, width = 0, height = 0;
};

// Whole decades; grows to hold what it is shown.
struct Decades {
  int low = 0, high = 0;
  bool empty = true;
  void Include(double value);  // nothing happens for a value that is not positive
};

class LogAxes {
 public:
  LogAxes(const Box& box, const Decades& x, const Decades& y) : box_(box), x_(x), y_(y) {}

  // Frame, grid and tick labels; the title stands above.
  std::string Frame(std::string_view title) const;
  // A line through the means, with bars of two standard errors; `style` is a CSS class.
  // Means that are not positive are left out.
  std::string Curve(const std::vector<int64_t>& n, const std::vector<Estimate>& values,
                    std::string_view style) const;

 private:
  double X(double value) const;
  double Y(double value) const;

  Box box_;
  Decades x_, y_;
};

}  // namespace resmem

#endif  // RESMEM_LAB_THEORY_LOG_AXES_H_
