// The only file that sees Boost.Math: its headers are slow to compile.
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "analyzer/core/assert.hpp"
#include "gate/statistics.hpp"

namespace traceweir::gate {
namespace {

// Double stays double: promotion to long double costs time and would make results depend on the platform.
using Policies =
    boost::math::policies::policy<boost::math::policies::promote_double<false>,
                                  boost::math::policies::overflow_error<boost::math::policies::ignore_error>>;
using Normal = boost::math::normal_distribution<double, Policies>;
using Student = boost::math::students_t_distribution<double, Policies>;

}  // namespace

double normal_tail(double x) { return boost::math::cdf(boost::math::complement(Normal(), x)); }

double normal_quantile(double p) {
  TRACEWEIR_ASSERT(p > 0 && p < 1);
  return boost::math::quantile(Normal(), p);
}

double student_upper(double tail, double degrees) {
  TRACEWEIR_ASSERT(tail > 0 && tail < 1);
  TRACEWEIR_ASSERT(degrees >= 1);
  return boost::math::quantile(boost::math::complement(Student(degrees), tail));
}

double student_tail(double x, double degrees) {
  TRACEWEIR_ASSERT(degrees >= 1);
  if (std::isinf(x)) return x > 0 ? 0 : 1;
  return boost::math::cdf(boost::math::complement(Student(degrees), x));
}

}  // namespace traceweir::gate
