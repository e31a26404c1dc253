"""Files that hold credentials by what they are called. Looks at names alone and opens nothing."""

import re
from fnmatch import translate

# Each is a name that tools reserve for credentials. Words that source files also have in their names ("token",
# "credentials" with a source file's ending) are left out on purpose: a gate that hides ordinary code is switched off.
_NAMES = (
    ".env",
    ".env.*",
    "*.env",
    ".envrc",
    ".dev.vars",
    "*.pem",
    "*.key",
    "*.crt",
    "*.cer",
    "*.cert",
    "*.der",
    "*.p8",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.truststore",
    "*.ppk",
    "*.kdb",
    "*.kdbx",
    "*.gpg",
    "*.ovpn",
    "*.agekey",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_*_sk",
    "secring.*",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".my.cnf",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".htpasswd",
    ".git-credentials",
    ".dockercfg",
    ".dockerconfigjson",
    ".vault-token",
    ".vault_pass*",
    ".s3cfg",
    ".boto",
    "credentials",
    "credentials.json",
    "credentials.y*ml",
    "credentials.toml",
    "credentials.ini",
    "credentials.csv",
    "credentials.xml",
    "secret.json",
    "secret.y*ml",
    "secret.toml",
    "secrets.json",
    "secrets.y*ml",
    "secrets.toml",
    "secrets.ini",
    "secrets.properties",
    "client_secret*.json",
    "service-account*.json",
    "service_account*.json",
    "serviceaccount*.json",
    "local.settings.json",
    "master.key",
    "*.tfvars",
    "*.tfvars.json",
    "*.tfstate",
    "*.tfstate.backup",
    "kubeconfig",
)
# Folders that hold nothing but credentials, and files that do only in such a folder.
_FOLDERS = (".ssh", ".gnupg", ".aws", ".azure", ".password-store")
_IN_FOLDERS = (".kube/config", ".docker/config.json", ".cargo/credentials*", ".gem/credentials")

_NAME = re.compile("|".join(translate(name) for name in _NAMES), re.IGNORECASE)
_FOLDER = re.compile("|".join(translate(name) for name in _FOLDERS), re.IGNORECASE)
_TAIL = re.compile("|".join(translate("*/" + tail) for tail in _IN_FOLDERS), re.IGNORECASE)


def is_secret_name(name: str) -> bool:
    """Whether a file of this bare name is secret wherever it lies."""
    return _NAME.match(name) is not None


def is_secret_folder(name: str) -> bool:
    """Whether all that lies in a folder of this bare name is secret."""
    return _FOLDER.match(name) is not None


def is_secret_path(path: str) -> bool:
    """Whether an absolute path with forward slashes names a secret file, by itself or by a folder above it."""
    *folders, name = path.split("/")
    return is_secret_name(name) or _TAIL.match(path) is not None or any(map(is_secret_folder, folders))
