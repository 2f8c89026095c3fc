// The same linear regression by hand with Eigen.
#include <Eigen/Dense>

#include <cstdio>

int main() {
  const Eigen::MatrixXf x = Eigen::MatrixXf::Ones(32, 10);
  const Eigen::VectorXf y = Eigen::VectorXf::Ones(32);
  Eigen::VectorXf w = Eigen::VectorXf::Zero(10);
  float b = 0;
  for (int i = 0; i < 100; ++i) {
    const Eigen::VectorXf error = ((x * w).array() + b).matrix() - y;
    const float loss = error.squaredNorm() / 32;
    w -= 0.1f * 2 / 32 * (x.transpose() * error);
    b -= 0.1f * 2 / 32 * error.sum();
    if (i % 10 == 0) std::printf("%g\n", static_cast<double>(loss));
  }
  std::printf("%g\n", static_cast<double>(w(0)));
}
