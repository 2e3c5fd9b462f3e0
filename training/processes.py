"""Learning in several processes at once, as `torchrun` starts them; alone where it did not."""

from __future__ import annotations

import os
from typing import Any

import torch
from torch import distributed, nn


class Processes:
    """The processes of a run, which step together.

    Attributes:
        rank: the number of this one; process 0 writes the files.
        count: how many there are.
    """

    def __init__(self) -> None:
        """Join the others, if `torchrun` has started this process."""
        self.rank = int(os.environ.get("RANK", 0))
        self.count = int(os.environ.get("WORLD_SIZE", 1))
        if self.count == 1 or distributed.is_initialized():
            return
        if torch.cuda.is_available():  # each process has a device of its own
            torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", 0)) % torch.cuda.device_count())
            distributed.init_process_group("cpu:gloo,cuda:nccl")
        else:
            distributed.init_process_group("gloo")

    def average_gradients(self, network: nn.Module) -> None:
        """Give every process the mean of all processes' gradients."""
        if self.count == 1:
            return
        gradients = [weight.grad for weight in network.parameters() if weight.grad is not None]
        flat = torch.cat([gradient.flatten() for gradient in gradients])
        distributed.all_reduce(flat)
        flat /= self.count
        start = 0
        for gradient in gradients:
            end = start + gradient.numel()
            gradient.copy_(flat[start:end].view_as(gradient))
            start = end

    def least(self, number: int) -> int:
        """Return the least of all processes' numbers."""
        return min(int(theirs) for theirs in self.gather(number))

    def total(self, number: int) -> int:
        """Return the sum of all processes' numbers."""
        return sum(int(theirs) for theirs in self.gather(number))

    def gather(self, thing: Any) -> list[Any]:
        """Return what every process has given, by rank."""
        if self.count == 1:
            return [thing]
        things: list[Any] = [None] * self.count
        distributed.all_gather_object(things, thing)
        return things

    def leave(self) -> None:
        """Part from the others at the end of a run."""
        if self.count > 1:
            distributed.destroy_process_group()
