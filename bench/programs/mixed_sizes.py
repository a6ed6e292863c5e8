"""A script whose sizes do not fit: 48 MB of tensors, of which the failure needs no byte."""

import torch


def loss(first, second):
    product = first[:10] @ second
    return product.sum()


big = torch.randn(3000, 4000)
other = torch.randn(4001, 2)
labels = [torch.arange(5), torch.ones(2)]
weight = torch.nn.Parameter(torch.randn(50, 50))
weight.grad = torch.randn(50, 50)
for step in range(3):
    big.mul_(3)
    print(loss(big, other))
