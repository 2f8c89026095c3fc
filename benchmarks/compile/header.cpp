// A program that includes one header and asks for nothing of it.
#include HEADER

int main() {}
