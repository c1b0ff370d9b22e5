#!/bin/sh
# Puts the jars of a Kafka broker into a folder, unless they are there: jars.sh <folder> <version>. Needs Java 17 and
# Maven; where they are missing and this is root on a Debian, they are installed.
set -eu
jars=$1
version=$2
pom=$(dirname "$0")/pom.xml
mkdir -p "$(dirname "$jars")"

# Test processes run side by side, and neither Maven's folder nor apt's takes two at once.
exec 9>"$jars.lock"
if command -v flock >/dev/null; then flock 9; fi

twice() { "$@" || { sleep 5; "$@"; }; }
install_missing() {
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || {
    echo "Kafka for the tests needs the commands java (17) and mvn" >&2
    exit 1
  }
  export DEBIAN_FRONTEND=noninteractive
  twice apt-get -qq update
  twice apt-get -qq -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@" >/dev/null
}
command -v java >/dev/null || install_missing openjdk-17-jre-headless
[ -e "$jars" ] && exit 0
command -v mvn >/dev/null || install_missing maven

# Whole or not at all.
fresh=$jars.$$
trap 'rm -rf "$fresh"' EXIT
twice mvn -q -B -f "$pom" -Dkafka.version="$version" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$fresh"
mv "$fresh" "$jars"
