import { node } from './generate-node.ts';
import {
  type GeneratedDockerfile,
  type Generator,
  type GeneratorSettings,
  lines,
  procfile,
  type ProjectFiles,
  shell,
} from './project-files.ts';
import { staticStage } from './static/image.ts';

const DEFAULTS: GeneratorSettings = { output: null, args: [], secrets: [] };

/**
 * Generates a Dockerfile for a source that has none: multi-stage, without root at run time, and
 * with the dependencies in a separate layer, which is rebuilt only when the lockfile changes. Null
 * when the language is not known.
 */
export function generateDockerfile(
  files: ProjectFiles,
  settings: GeneratorSettings = DEFAULTS,
): GeneratedDockerfile | null {
  for (const generator of GENERATORS) {
    const made = generator(files, settings);
    if (made) return made;
  }
  return null;
}

const python: Generator = (files) => {
  const requirements = files.has('requirements.txt');
  if (!requirements && !files.has('pyproject.toml')) return null;
  const entry = ['main.py', 'app.py', 'server.py', 'manage.py'].find((path) => files.has(path));
  const start =
    procfile(files) ??
    (entry === 'manage.py'
      ? 'python manage.py runserver 0.0.0.0:$PORT'
      : entry && `python ${entry}`);
  if (start === undefined) return null;
  return {
    kind: 'python',
    text: lines(
      'FROM docker.io/library/python:3.13-slim AS build',
      'WORKDIR /app',
      'RUN python -m venv /venv',
      'ENV PATH=/venv/bin:$PATH PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1',
      requirements ? 'COPY requirements.txt ./' : 'COPY . .',
      requirements ? 'RUN pip install -r requirements.txt' : 'RUN pip install .',
      '',
      'FROM docker.io/library/python:3.13-slim',
      'WORKDIR /app',
      'ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1',
      'COPY --from=build /venv /venv',
      'COPY . .',
      'USER 1000:1000',
      shell(start),
    ),
  };
};

const go: Generator = (files) => {
  if (!files.has('go.mod')) return null;
  const version = /^go\s+(\d+\.\d+)/m.exec(files.text('go.mod') ?? '')?.[1] ?? '1.23';
  const main = files.find(/^cmd\/[^/]+\/main\.go$/);
  return {
    kind: 'go',
    text: lines(
      `FROM docker.io/library/golang:${version} AS build`,
      'WORKDIR /src',
      'COPY go.mod go.su[m] ./',
      'RUN go mod download',
      'COPY . .',
      `RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o /out/app ${files.has('main.go') || !main ? '.' : `./${main.replace(/\/main\.go$/, '')}`}`,
      '',
      'FROM gcr.io/distroless/static-debian12:nonroot',
      'COPY --from=build /out/app /app',
      'CMD ["/app"]',
    ),
  };
};

const ruby: Generator = (files) => {
  if (!files.has('Gemfile')) return null;
  const start =
    procfile(files) ??
    (files.has('config.ru')
      ? 'bundle exec rackup -o 0.0.0.0 -p $PORT'
      : files.has('app.rb')
        ? 'bundle exec ruby app.rb'
        : undefined);
  if (start === undefined) return null;
  return {
    kind: 'ruby',
    text: lines(
      'FROM docker.io/library/ruby:3.3 AS build',
      'WORKDIR /app',
      'ENV BUNDLE_PATH=/bundle BUNDLE_WITHOUT=development:test',
      'COPY Gemfile Gemfile.loc[k] ./',
      'RUN bundle install',
      '',
      'FROM docker.io/library/ruby:3.3-slim',
      'WORKDIR /app',
      'ENV BUNDLE_PATH=/bundle BUNDLE_WITHOUT=development:test RACK_ENV=production',
      'COPY --from=build /bundle /bundle',
      'COPY --chown=1000:1000 . .',
      'USER 1000:1000',
      shell(start),
    ),
  };
};

const php: Generator = (files) => {
  if (!files.has('composer.json') && !files.has('index.php')) return null;
  const root = files.has('public/index.php') ? 'public' : '.';
  return {
    kind: 'php',
    text: lines(
      files.has('composer.json') && 'FROM docker.io/library/composer:2 AS build',
      files.has('composer.json') && 'WORKDIR /app',
      files.has('composer.json') && 'COPY . .',
      files.has('composer.json') &&
        'RUN composer install --no-dev --no-interaction --optimize-autoloader',
      files.has('composer.json') && '',
      'FROM docker.io/library/php:8.3-cli',
      'WORKDIR /app',
      files.has('composer.json') ? 'COPY --from=build /app /app' : 'COPY . .',
      'USER 1000:1000',
      shell(procfile(files) ?? `php -S 0.0.0.0:$PORT -t ${root}`),
    ),
  };
};

const rust: Generator = (files) => {
  const name = /^\s*name\s*=\s*"([A-Za-z0-9_-]+)"/m.exec(files.text('Cargo.toml') ?? '')?.[1];
  if (name === undefined) return null;
  return {
    kind: 'rust',
    text: lines(
      'FROM docker.io/library/rust:1 AS build',
      'WORKDIR /src',
      'COPY . .',
      `RUN cargo build --release ${files.has('Cargo.lock') ? '--locked ' : ''}&& cp target/release/${name} /app`,
      '',
      'FROM gcr.io/distroless/cc-debian12:nonroot',
      'COPY --from=build /app /app',
      'CMD ["/app"]',
    ),
  };
};

const java: Generator = (files) => {
  const maven = files.has('pom.xml');
  const gradle = files.has('build.gradle') || files.has('build.gradle.kts');
  if (!maven && !gradle) return null;
  const build = maven
    ? 'mvn -B -q -DskipTests package && cp $(ls target/*.jar | grep -v original | head -n 1) /app.jar'
    : 'gradle --no-daemon -q build -x test && cp $(ls build/libs/*.jar | grep -v plain | head -n 1) /app.jar';
  return {
    kind: maven ? 'java (maven)' : 'java (gradle)',
    text: lines(
      `FROM docker.io/library/${maven ? 'maven:3-eclipse-temurin-21' : 'gradle:8-jdk21'} AS build`,
      'WORKDIR /src',
      'COPY . .',
      `RUN ${build}`,
      '',
      'FROM docker.io/library/eclipse-temurin:21-jre',
      'COPY --from=build /app.jar /app.jar',
      'USER 1000:1000',
      shell(procfile(files) ?? 'java -XX:MaxRAMPercentage=75 -Dserver.port=$PORT -jar /app.jar'),
    ),
  };
};

const dotnet: Generator = (files) => {
  const project = files.find(/^[^/]+\.(csproj|fsproj)$/);
  if (project === undefined || !/^[\w.-]+$/.test(project)) return null;
  return {
    kind: '.net',
    text: lines(
      'FROM mcr.microsoft.com/dotnet/sdk:9.0 AS build',
      'WORKDIR /src',
      `COPY ${project} ./`,
      'RUN dotnet restore',
      'COPY . .',
      'RUN dotnet publish -c Release -o /out --no-restore',
      '',
      'FROM mcr.microsoft.com/dotnet/aspnet:9.0',
      'WORKDIR /app',
      'ENV ASPNETCORE_HTTP_PORTS=',
      'COPY --from=build /out .',
      'USER 1000:1000',
      shell(
        `ASPNETCORE_URLS=http://0.0.0.0:$PORT exec dotnet ${project.replace(/\.\w+$/, '')}.dll`,
      ),
    ),
  };
};

/** Serves files without a build, from one of the usual folders of a built site. */
const staticSite: Generator = (files, { output }) => {
  const folders = output === null ? ['.', 'public', 'dist', 'build', 'site'] : [output];
  const root = folders.find((folder) =>
    files.has(folder === '.' ? 'index.html' : `${folder}/index.html`),
  );
  if (root === undefined) return null;
  const { lines: stage, files: ours } = staticStage(root, 'files');
  return { kind: 'static', text: lines(...stage), files: ours };
};

/**
 * The first match is used, so the order matters: a site's `package.json` comes before its
 * `index.html`.
 */
const GENERATORS: readonly Generator[] = [
  node,
  python,
  go,
  ruby,
  rust,
  java,
  dotnet,
  php,
  staticSite,
];
