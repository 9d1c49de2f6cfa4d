"""What commands say of a model that they cannot read."""


def test_there_is_no_such_run(refuse, tmp_path):
    said = refuse("parse", tmp_path / "none")
    assert "none cannot be read: No such file" in said
    assert "there is no model.npz in it" in refuse("generate", tmp_path)
    (tmp_path / "config.toml").write_text("")
    for command in ("parse", "generate", "show", "probability"):
        said = refuse(command, tmp_path)
        assert "not finished" in said
        assert f"`dbpcfg resume {tmp_path}`" in said


def test_a_broken_model(refuse, center_run, tmp_path):
    data = (center_run / "model.npz").read_bytes()
    for name, broken in (("cut.npz", data[: len(data) // 2]), ("text.npz", b"some text\n")):
        (tmp_path / name).write_bytes(broken)
        for command in ("parse", "generate", "show", "probability"):
            assert name in refuse(command, tmp_path / name)
