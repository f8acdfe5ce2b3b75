import type { Project } from '@twofold/schema';
import { templatesOf } from '../capabilities.ts';

/** `Dockerfile`: a scaffold. Two stages, an unprivileged user, no development dependencies. */
export function renderDockerfile(project: Project, { vendor }: { vendor: boolean }): string {
  return `FROM node:24-slim AS packages
WORKDIR /app
COPY package.json package-lock.json* ./
${vendor ? 'COPY vendor ./vendor\n' : ''}# With a package-lock.json the packages are exactly those of your own installation.
RUN if [ -f package-lock.json ]; then npm ci --omit=dev; else npm install --omit=dev; fi

FROM node:24-slim
# The port of a container is only reached where the container publishes it.
ENV NODE_ENV=production HOST=0.0.0.0 NODE_COMPILE_CACHE=/app/.cache
# Otherwise the C library keeps up to 64 MB for each thread that was busy once.
ENV MALLOC_ARENA_MAX=2
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY package.json tsconfig.json ./
COPY migrations ./migrations
${trustedList(project)}${manifestFile(project)}COPY src ./src
RUN mkdir data .cache && chown node data .cache
USER node
# Fills the compile cache, so that a container starts faster.
RUN node --eval "import('./src/generated/app.ts').finally(() => process.exit())"
VOLUME /app/data
EXPOSE ${project.server.port}
CMD ["node", "src/server.ts"]
`;
}

/** The list of trusted documents, without which the server does not start. */
function trustedList({ api: { trustedDocuments } }: Project): string {
  return trustedDocuments ? `COPY ${trustedDocuments.file} ./${trustedDocuments.file}\n` : '';
}

/** A console in production lists the settings of the manifest. */
const manifestFile = ({ console: model }: Project): string =>
  model?.enabled === 'always' ? 'COPY manifest.yaml ./\n' : '';

/** `compose.yaml`: a scaffold; the server and PostgreSQL. */
export function renderCompose(project: Project): string {
  const settings = templatesOf(project).flatMap((template) =>
    Object.entries(template.compose?.(project) ?? {}),
  );
  const socket = templatesOf(project).flatMap((each) => each.engineSocket?.(project) ?? [])[0];
  const database = socket === undefined ? 'database' : '127.0.0.1';
  return `services:
  app:
    build: .
${socket === undefined ? `    ports: ["${project.server.port}:${project.server.port}"]\n` : onTheHost(project, socket)}\
    env_file: .env
    environment:
      DATABASE_URL: postgres://postgres:\${POSTGRES_PASSWORD:-postgres}@${database}:5432/postgres
      HOST: 0.0.0.0
      MIGRATE: "on"${settings.map(([name, value]) => `\n      ${name}: ${value}`).join('')}
    depends_on:
      database: { condition: service_healthy }
  database:
    image: postgres:17
${socket === undefined ? '' : '    ports: ["127.0.0.1:5432:5432"]\n'}\
    environment:
      POSTGRES_PASSWORD: \${POSTGRES_PASSWORD:-postgres}
    volumes: [database:/var/lib/postgresql/data]
    healthcheck:
      test: ["CMD-SHELL", "pg_isready -U postgres"]
      interval: 2s
      retries: 30
volumes:
  database:
${socket === undefined ? '' : '  data:\n'}`;
}

/** Lines of a service that manages the containers of its machine. */
function onTheHost({ server, hosting }: Project, socket: string): string {
  const ports = [hosting?.ingress.http, hosting?.ingress.https, server.port].filter(Boolean);
  return `    # Apps have addresses that only the machine itself reaches, so this is in its network. It
    # listens on the machine's ports ${ports.join(', ')}.
    network_mode: host
    # Who may use the socket of the engine is as good as root.
    user: root
    init: true
    restart: unless-stopped
    volumes:
      - ${socket}:${socket}
      - data:/app/data
`;
}
