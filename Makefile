# Needs make, Node 20 or newer with npm, and a package registry; everything else is installed on first use.
# The Node that runs the project is its npm dependency `node`: npm puts it first on the PATH of every script.

# The lock that node_modules was installed from: with everything, or only with what runs the relay and builds its pages.
installed := node_modules/.installed-lock.json
installed_to_run := node_modules/.installed-to-run-lock.json
run := npm run --silent
bin := PATH="$(CURDIR)/node_modules/.bin:$$PATH"

.PHONY: demo run test test-slow test-full times simulate simulate-planted planted lint bench up

demo: $(installed_to_run)
	@$(bin) node scripts/build-dashboard.js
	@$(run) demo

# As `npm start`, without the npm that would stay beside it, with 50 MiB.
run: $(installed_to_run)
	@$(bin) node scripts/build.js
	@$(bin) node scripts/build-dashboard.js
	@$(bin) MALLOC_TRIM_THRESHOLD_=1048576 exec node --disable-warning=ExperimentalWarning \
	  --disable-warning=TimeoutNegativeWarning --max-semi-space-size=16 build/src/main.js

test: $(installed)
	@$(run) test

test-slow: $(installed)
	@$(run) test:slow

# Both, at the large sizes.
test-full: $(installed)
	@RELAY_TEST_SIZE=full $(run) test -- --timeout 3600000
	@RELAY_TEST_SIZE=full $(run) test:slow -- --timeout 3600000

# The seconds of `make demo` and `make test` in a fresh clone of the last commit.
times:
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && git clone --quiet . "$$folder/relay" && \
	for target in demo test; do \
	  begun=$$(date +%s); \
	  $(MAKE) --silent -C "$$folder/relay" $$target >"$$folder/log" 2>&1 || { tail -n 50 "$$folder/log"; exit 1; }; \
	  echo "make $$target: $$(($$(date +%s) - begun)) s"; \
	done

# SEEDS=n runs as many seeds, from FROM on; SEED=x runs that one and prints its trace.
simulate: $(installed)
	@$(bin) exec node --disable-warning=ExperimentalWarning test/simulation/main.ts

# Plants bugs in a copy of the source, one at a time: which test catches each. NAME=one plants that one.
planted: $(installed)
	@$(bin) exec node --disable-warning=ExperimentalWarning test/planted/main.ts $(NAME)

# Plants bugs in copies of the program, one in each: which seed catches it, by which invariant. BUG=… chooses by name.
simulate-planted: $(installed)
	@$(bin) exec node --disable-warning=ExperimentalWarning test/simulation/plant.ts

lint: $(installed)
	@$(run) lint

bench: $(installed)
	@$(run) bench -- $(NAME)

# Every real engine and the relay, by Docker. The master key in .env is the relay's: whoever loses it loses the data.
up: .env
	docker compose up --build --detach --wait
	@echo "the relay listens on http://127.0.0.1:8080; docker compose down ends it, with --volumes its data too"

.env:
	@umask 077; node -e 'console.log("RELAY_MASTER_KEY=" + require("crypto").randomBytes(32).toString("base64"))' > $@

# A lock that was merely touched, or a tree that `npm ci` filled without make, asks nothing of the network. Where
# install scripts are blocked, `node` has not fetched its binary yet: it is the one package that has to.
fetch_node = test -x node_modules/.bin/node || npm rebuild node --ignore-scripts=false

$(installed): package-lock.json
	@cmp -s package-lock.json $@ || { test ! -e $@ && npm ls --all >/dev/null 2>&1; } || npm ci
	@$(fetch_node)
	@cp package-lock.json $@

$(installed_to_run): package-lock.json
	@cmp -s package-lock.json $@ || cmp -s package-lock.json $(installed) || \
	  { test ! -e $@ && test ! -e $(installed) && npm ls --all --omit=dev >/dev/null 2>&1; } || npm ci --omit=dev
	@$(fetch_node)
	@cp package-lock.json $@
