import type { ManifestValues } from '../manifest.ts';
import type { Api, HostingModel, ServerOptions } from '../model.ts';
import { duration, size } from './quantities.ts';

/** `server:` of the manifest. Proxies may be named in the `auth` section too, where they matter most. */
export function buildServer({ server, auth }: ManifestValues): ServerOptions {
  return {
    port: server.port,
    host: server.host,
    cors: server.cors,
    trustedProxies: [...new Set([...server.trusted_proxies, ...(auth?.trusted_proxies ?? [])])],
    bodyLimit: size(server.body_limit),
  };
}

/** `api:` of the manifest. With signing in, what says nothing about access needs a user. */
export function buildApi({ api, auth }: ManifestValues): Api {
  const { limits, trusted_documents: trusted } = api;
  return {
    path: api.path,
    access: api.access ?? (auth ? 'user' : 'public'),
    crud: api.crud,
    rest: api.rest,
    limits: {
      depth: limits.depth,
      cost: limits.cost,
      aliases: limits.aliases,
      rootFields: limits.root_fields,
      directives: limits.directives,
      tokens: limits.tokens,
      batch: limits.batch,
      list: limits.list,
      time: duration(limits.time),
      result: size(limits.result),
      memory: size(limits.memory),
    },
    introspection: api.introspection,
    graphiql: api.graphiql,
    suggestions: api.suggestions,
    trustedDocuments: trusted && { file: trusted.file, required: trusted.required },
  };
}

/** `hosting:` of the manifest; null when it is not there. */
export function buildHosting({ hosting }: ManifestValues): HostingModel | null {
  if (!hosting) return null;
  const { engine, defaults, deploys, build, source, git, ingress, models } = hosting;
  return {
    engine: { kind: engine.kind, socket: engine.socket },
    domain: hosting.domain,
    access: hosting.access,
    defaults: {
      port: defaults.port,
      memory: size(defaults.memory),
      cpus: defaults.cpus,
      pids: defaults.pids,
    },
    deploys: {
      keep: deploys.keep,
      readyTimeout: duration(deploys.ready_timeout),
      drain: duration(deploys.drain),
    },
    build: {
      timeout: duration(build.timeout),
      memory: size(build.memory),
      concurrency: build.concurrency,
      allowAddUrl: build.allow_add_url,
      from: build.from,
    },
    source: {
      max: size(source.max),
      maxUnpacked: size(source.max_unpacked),
      entries: source.entries,
    },
    git: { allowHttp: git.allow_http, allowPrivate: git.allow_private },
    ingress: {
      http: ingress.http,
      https: ingress.https,
      acme: { email: ingress.acme.email, directory: ingress.acme.directory },
    },
    diskFloor: size(hosting.disk_floor),
    templates: hosting.templates,
    models: { directory: models.directory, engine: models.engine, list: models.list },
  };
}
