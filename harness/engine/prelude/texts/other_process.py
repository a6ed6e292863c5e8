"""A process that reads texts of descriptions, and a check that compares its answers with ours.

It is forked before a program makes a tensor, so it knows nothing of this process but the texts.
"""

#: other_process, check_text_elsewhere, check_other_process [slotcore]: texts elsewhere (M13)
#> check_text_elsewhere: checks
#> check_other_process: checks
import os, select, socket
def answered(text):
    description = T._meta.loads(text)
    env, converter = description.shape_env, MetaConverter()
    if env:
        converter = FakeTensorMode(shape_env=env).fake_tensor_converter.meta_converter
    fakes = T._meta.convert(converter, description)
    texts = [T._meta.dumps(description), T._meta.dumps(described(*fakes))]
    if env:
        return [*texts, [bool(fake.numel() > 3) for fake in fakes], T._meta.dumps_env(env)]
    shared = [sharing_of(one, other) for one in fakes for other in fakes]
    return [*texts, [fields_of(fake) for fake in fakes],
            [[sorted(one) if type(one) is set else one for one in row] for row in shared]]
def answer_to(text):
    try:
        return repr(answered(text))
    except (ValueError, RuntimeError, ArithmeticError) as error:
        return repr(error)
def read_all(connection):
    with connection.makefile("rb") as file:
        return file.read().decode()
def waits_for_text(listener, lifeline):  # false when the process that asks has ended
    return lifeline not in select.select([listener, lifeline], [], [])[0]
def answer_all(listener, lifeline):
    kept = [MetaConverter().describer.describe_tensor(T.ones(size % 5)) for size in range(333)]
    kept = kept[::2]  # so that addresses are not those of the process that asks
    while waits_for_text(listener, lifeline):
        with listener.accept()[0] as connection:
            connection.sendall(answer_to(read_all(connection)).encode())
def start_other_process():
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(b"")  # the kernel chooses a name
    listener.listen(64)
    lifeline, kept_open = os.pipe()  # ends with this process and all forks of it
    if os.fork() == 0:
        try:
            os.close(kept_open)
            while waits_for_text(listener, lifeline):
                if os.fork() == 0:
                    answer_all(listener, lifeline)
                    break
                os.wait()  # an answer has crashed: another child goes on
        finally:
            os._exit(0)
    return listener.getsockname()
other_process = start_other_process()
def check_text_elsewhere(text):
    if in_hermetic() or T._meta.mode_count():
        return
    expected = answer_to(text)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(other_process)
        connection.sendall(text.encode())
        connection.shutdown(socket.SHUT_WR)
        try:
            answer = read_all(connection)
        except ConnectionResetError:
            answer = ""
    assert answer, "M13: another process crashes when it reads a text"
    assert answer == expected, "M13: a text means something else in another process"
def check_other_process(one, other):
    text = None if in_hermetic() else text_of_two(one, other)
    if text is None:
        return
    check_text_elsewhere(text)
    mode = FakeTensorMode(shape_env=ShapeEnv())
    if not any(getattr(two, "fake_mode", None) for two in (one, other)):
        fakes = [mode.from_tensor(two, kind="dynamic") for two in (one, other)]
        check_text_elsewhere(T._meta.dumps(described(*fakes)))
