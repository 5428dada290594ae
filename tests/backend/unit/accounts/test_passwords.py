from pwdlib import PasswordHash


def test_an_installation_hashes_slowly_and_in_64_mib(slow_passwords: PasswordHash) -> None:
    assert slow_passwords.hash("correct horse").startswith("$argon2id$v=19$m=65536,t=3,p=4$")
