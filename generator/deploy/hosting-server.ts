import type { DeploymentStatus } from '@twofold/schema';
import { CommandError } from '../failure.ts';
import { fetchPatiently } from './fetch-patiently.ts';

/** The fields of an app that a deploy needs, as the server returns them. */
export interface AppReport {
  readonly name: string;
  readonly status: string;
  readonly url: string;
  readonly domain: string;
  readonly env: Readonly<Record<string, string>>;
  readonly source: { readonly kind: string } | null;
  readonly volumes: readonly { readonly name: string; readonly path: string }[];
  readonly deployment: number | null;
}

export interface DeploymentReport {
  readonly number: number;
  readonly status: DeploymentStatus;
  readonly reason: string | null;
  /** The last lines that the app logged. */
  readonly log: readonly string[];
}

/** A compose file with what it needs. */
export interface SentCompose {
  readonly compose: string;
  readonly env: Readonly<Record<string, string>>;
  /** Null when the file needs nothing beside it. */
  readonly archive: Uint8Array | null;
}

/** Names of apps. */
export interface ComposeReport {
  readonly created: readonly string[];
  readonly changed: readonly string[];
  readonly unchanged: readonly string[];
  readonly gone: readonly string[];
}

/** The server refused a request; the message is the server's. */
export class HostingRefusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.name = 'HostingRefusal';
    this.status = status;
  }
}

/**
 * The API of a hosting server that a deploy uses. Every call may throw a `CommandError` or a
 * `HostingRefusal`.
 */
export interface HostingServer {
  readonly url: string;
  /** The header that each call has. */
  readonly credentials: Readonly<Record<string, string>>;
  /**
   * @throws CommandError when there is no answer, or the answer is not that of a hosting server.
   */
  assertReady(): Promise<void>;
  signIn(password: string): Promise<string>;
  /** The app, or null when there is none with this name. */
  app(name: string): Promise<AppReport | null>;
  create(fields: Readonly<Record<string, unknown>>): Promise<AppReport>;
  putSecret(app: string, key: string, value: string): Promise<void>;
  upload(config: Readonly<Record<string, unknown>>, archive: Uint8Array): Promise<DeploymentReport>;
  /** Ends when all apps of the project are what the file says. */
  compose(
    project: string,
    sent: SentCompose,
    options: { readonly dryRun: boolean; readonly prune: boolean },
  ): Promise<ComposeReport>;
  deployment(app: string, number: number): Promise<DeploymentReport>;
  cancel(app: string, number: number): Promise<void>;
  /** Lines of the build as they come; ends when the build does. */
  buildLog(app: string, number: number): AsyncGenerator<string>;
}

/**
 * @param token a token of `POST /api/auth/login`, or an API key (`gk_…`); null before signing in.
 */
export function createHostingServer(url: string, token: string | null): HostingServer {
  const credentials: Record<string, string> =
    token === null
      ? {}
      : token.startsWith('gk_')
        ? { 'X-API-Key': token }
        : { Authorization: `Bearer ${token}` };
  const send = (method: string, path: string, body?: unknown) =>
    request(url, { method, path, headers: credentials, body });
  const json = async <T>(method: string, path: string, body?: unknown) =>
    (await (await send(method, path, body)).json()) as T;
  const ofApp = (name: string) => `/api/apps/${encodeURIComponent(name)}`;
  return {
    ...{ url, credentials },
    assertReady: () => assertReady(url),
    signIn: async (password) =>
      (await json<{ token: string }>('POST', '/api/auth/login', { password })).token,
    app: async (name) => {
      try {
        return await json<AppReport>('GET', ofApp(name));
      } catch (error) {
        if (error instanceof HostingRefusal && error.status === 404) return null;
        throw error;
      }
    },
    create: (fields) => json<AppReport>('POST', '/api/apps', fields),
    putSecret: async (app, key, value) =>
      void (await json('PUT', `${ofApp(app)}/secrets/${encodeURIComponent(key)}`, { value })),
    upload: (config, archive) =>
      json<DeploymentReport>('POST', '/api/deploy', formOf(config, archive)),
    compose: async (project, { archive, ...sent }, { dryRun, prune }) => {
      const query = `wait=true&dry_run=${dryRun}&prune=${prune}`;
      const answer = await request(url, {
        ...{ method: 'POST', headers: credentials, patient: true },
        path: `/api/projects/${encodeURIComponent(project)}/compose?${query}`,
        body: archive ? composeForm(sent, archive) : sent,
      });
      return (await answer.json()) as ComposeReport;
    },
    deployment: (app, number) =>
      json<DeploymentReport>('GET', `${ofApp(app)}/deployments/${number}`),
    cancel: async (app, number) =>
      void (await json('POST', `${ofApp(app)}/deployments/${number}/cancel`)),
    buildLog: async function* (app, number) {
      // On an event stream the server sends a heartbeat every 15 s, even if the build is silent.
      const path = `${ofApp(app)}/deployments/${number}/logs?follow=true`;
      const headers = { ...credentials, Accept: 'text/event-stream' };
      for await (const line of linesOf(await request(url, { method: 'GET', path, headers })))
        if (line.startsWith('data: ')) yield line.slice('data: '.length);
    },
  };
}

function composeForm(
  { compose, env }: Omit<SentCompose, 'archive'>,
  archive: Uint8Array,
): FormData {
  const form = withSource(new FormData(), archive);
  form.set('compose', compose);
  form.set('env', JSON.stringify(env));
  return form;
}

function formOf(config: unknown, archive: Uint8Array): FormData {
  const form = new FormData();
  form.set('config', JSON.stringify(config));
  return withSource(form, archive);
}

function withSource(form: FormData, archive: Uint8Array): FormData {
  form.set(
    'source',
    new Blob([archive as Uint8Array<ArrayBuffer>], { type: 'application/gzip' }),
    'source.tar.gz',
  );
  return form;
}

async function assertReady(url: string): Promise<void> {
  const health = await request(url, { method: 'GET', path: '/api/health', headers: {} }).then(
    (response) => response.json().catch(() => null) as Promise<{ podman?: unknown } | null>,
    (error: unknown) => {
      if (error instanceof HostingRefusal) return null;
      throw error;
    },
  );
  if (typeof health?.podman !== 'string')
    throw new CommandError('NO_HOSTING_SERVER', {
      message: `${url} is not a hosting server`,
      fix: 'a project with `hosting:` in its manifest is one: generator init host --template hosting',
    });
  if (health.podman !== 'connected')
    throw new CommandError('ENGINE_AWAY', {
      message: `the hosting server at ${url} has no container engine at the moment`,
      fix: 'on that machine: npm run generator -- doctor',
    });
}

interface ApiCall {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Whether the server may take longer than `fetch` waits. */
  readonly patient?: boolean;
}

async function request(
  url: string,
  { method, path, headers, body, patient = false }: ApiCall,
): Promise<Response> {
  const isForm = body instanceof FormData;
  const sent: RequestInit = {
    method,
    redirect: 'manual',
    headers: {
      Accept: 'application/json',
      ...headers,
      ...(body !== undefined && !isForm && { 'Content-Type': 'application/json' }),
    },
    ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
  };
  const ask = patient ? fetchPatiently : fetch;
  const response = await ask(url + path, sent).catch((error: unknown) => {
    throw new CommandError('SERVER_AWAY', {
      message: `${url} does not answer: ${reasonOf(error)}`,
      fix: 'start the hosting server, or name another with --to URL',
    });
  });
  if (response.ok) return response;
  throw await refusalOf(response, url);
}

async function refusalOf(response: Response, url: string): Promise<Error> {
  const { status } = response;
  const text = await response.text().catch(() => '');
  const message = errorIn(text) ?? `${url} answered ${status}`;
  if (status === 401)
    return new CommandError('NOT_SIGNED_IN', {
      message: `not signed in at ${url}: ${message}`,
      fix: 'DEPLOY_TOKEN (a token or an API key) or DEPLOY_PASSWORD in the environment or in .env, or --token TOKEN',
    });
  if (status === 403)
    return new CommandError('NOT_ALLOWED', {
      message: `${url} does not let you deploy: ${message}`,
      fix: 'use a key with the scopes apps:read and apps:write',
    });
  if (status >= 300 && status < 400)
    return new CommandError('SERVER_MOVED', {
      message: `${url} has moved to ${response.headers.get('location') ?? 'another address'}`,
      fix: 'give that address with --to',
    });
  return new HostingRefusal(status, message);
}

function errorIn(text: string): string | null {
  try {
    const { error } = JSON.parse(text) as { error?: unknown };
    return typeof error === 'string' ? error : null;
  } catch {
    return null;
  }
}

/** The message of the innermost cause: the one of the network layer. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const inner = cause instanceof AggregateError ? cause.errors[0] : cause;
  const code = (inner as { code?: unknown }).code;
  return inner instanceof Error ? inner.message || String(code) : String(inner);
}

async function* linesOf(response: Response): AsyncGenerator<string> {
  if (!response.body) return;
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of response.body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}
