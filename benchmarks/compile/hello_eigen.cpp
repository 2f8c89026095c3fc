// The same linear regression by hand with Eigen.
#include <Eigen/Dense>

#include <cstdio>

int main() {
  Eigen::MatrixXf x = Eigen::MatrixXf::Zero(32, 10);
  Eigen::VectorXf y = Eigen::VectorXf::Ones(32);
  for (int i = 0; i < 32; ++i)
    for (int j = 0; j < 10; ++j) {
      x(i, j) = static_cast<float>((7 * i + 3 * j * j + i * j) % 11) / 11 - 0.5f;
      y(i) += static_cast<float>(j) * x(i, j);
    }
  Eigen::VectorXf w = Eigen::VectorXf::Zero(10);
  float b = 0;
  for (int i = 0; i < 1000; ++i) {
    const Eigen::VectorXf error = ((x * w).array() + b).matrix() - y;
    const float loss = error.squaredNorm() / 32;
    w -= 0.1f * 2 / 32 * (x.transpose() * error);
    b -= 0.1f * 2 / 32 * error.sum();
    if (i % 100 == 0) std::printf("%g\n", static_cast<double>(loss));
  }
  std::printf("%g\n", static_cast<double>(w(9)));
}
