"""Words: tables of what promotion knows by name: programs, what hands do, attributes, relatives."""

from __future__ import annotations

from typing import Final


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


KNOWN: Final = _set(
    """git gh glab hub npm pnpm yarn bun node deno pip pip3 uv poetry pdm pipx python python3 pytest tox
    nox ruff black mypy isort alembic flask django-admin cargo rustc rustup go make cmake ninja gradle
    mvn java javac dotnet docker docker-compose podman kubectl helm k9s kustomize terraform tofu ansible
    ansible-playbook packer vagrant aws gcloud az flyctl fly heroku vercel netlify wrangler doctl psql
    pg_dump pg_restore createdb dropdb mysql mysqldump sqlite3 redis-cli mongosh mongodump curl wget ssh
    scp rsync systemctl journalctl service nginx certbot tar zip unzip gzip cp mv rm mkdir touch chmod
    chown ln apt apt-get brew dnf yum pacman snap conda mamba bundle rake rails gem composer php artisan
    jest vitest eslint prettier tsc webpack vite pre-commit twine hatch openssl gpg ssh-keygen tmux mount
    dd ffmpeg pandoc latexmk bazel sbt stack cabal mix rebar3 swift xcodebuild fastlane flutter dart
    serverless sam cdk pulumi buildah skopeo trivy restic borg rclone crontab useradd ufw iptables ip"""
)
PLAIN: Final = _set(
    """cp mv rm mkdir touch chmod chown ln curl wget ssh scp rsync psql pg_dump pg_restore createdb
    dropdb mysql mysqldump sqlite3 pytest tar zip unzip gzip ffmpeg pandoc openssl gpg node java javac
    jest tsc mongosh mongodump dd mount ssh-keygen crontab ansible-playbook redis-cli k9s useradd"""
)
"""Programs whose first word is what they work on, not what they do."""
SCRIPTS: Final = _set("python python3 node bash sh zsh ruby perl php deno ansible-playbook")
DOING: Final = _set(
    """open close click press select choose tick enter type paste copy move rename delete remove drop add
    append create build compile make install uninstall upgrade update bump pin edit set unset enable
    disable turn switch toggle start stop restart reboot launch run execute deploy release publish ship
    tag merge rebase squash cherry-pick push pull fetch clone checkout commit revert roll rollback export
    import dump restore back backup migrate seed load upload download sync send email post announce
    notify log sign connect disconnect plug unplug mount unmount wait verify confirm save print scan file
    fill submit rotate renew revoke generate archive clear flush purge drain scale unlock lock download
    measure weigh mix pour rinse preheat calibrate tare"""
)
"""First words of a numbered line that is a step, and no item of a list of advice: what hands do."""
LOOKING: Final = _set(
    """cd ls pwd cat echo head tail grep egrep rg ag find which whereis clear less more man history wc
    tree file stat sleep true false printf sed awk diff test type whoami date env export source set unset
    alias exit id du df ps top htop jobs read sort uniq cut tr xargs tee nano vim vi emacs code open if
    then else fi for do done while case esac function return in ping man help"""
)
ATTRIBUTES: Final = _set(
    """name nickname surname username handle pronouns birthday anniversary address email phone timezone
    zone job title role employer diet hometown nationality major language hobby instrument colour color
    editor shell terminal keyboard theme font breed blood allergy port host url branch database framework
    region version licence license"""
)
RANKS: Final = _set("only best main first last next biggest problem issue question thing guess")
NOBODY: Final = _set(
    """it this that these those he she they you there here which who what everyone everybody someone
    somebody nobody people one all both each nothing something anything everything and but so also or if
    then because please let"""
)
ASKING: Final = _set(
    """please could would can let's lets want need needs help run use using try again go ahead get make
    thing things stuff trying thinking looking going wondering thanks thank ok okay hey hi now next also
    just sure yes no"""
)
NESTED: Final = {
    "aws": _set("s3 ecr ecs lambda"),
    "bun": _set("run"),
    "cargo": _set("install"),
    "docker": _set("compose image container volume"),
    "fly": _set("secrets"),
    "gcloud": _set("run compute"),
    "gh": _set("pr release workflow issue"),
    "git": _set("remote submodule stash"),
    "helm": _set("repo"),
    "kubectl": _set("rollout config"),
    "npm": _set("run"),
    "pnpm": _set("run"),
    "terraform": _set("workspace"),
    "uv": _set("pip"),
    "yarn": _set("run"),
}
"""Programs of which it takes two words to know what they do, after these first ones."""
KIN: Final = _set(
    """mother father mom mum dad daughter son child children kid kids parent parents sister sisters
    brother brothers sibling siblings wife husband spouse partner fiance girlfriend boyfriend twin twins
    baby toddler grandmother grandfather grandma grandpa aunt uncle cousin cousins niece nephew family
    roommate flatmate neighbour neighbor friend friends boss manager colleague colleagues coworker dog
    dogs cat cats puppy kitten horse rabbit"""
)
"""People and animals: who "is" something bears a name, and is of no value otherwise."""
