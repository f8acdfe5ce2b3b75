import type { Api, MetricsSettings, Observability, ServerOptions } from '../model.ts';
import { sections, type ManifestValues } from '../sections.ts';
import type { SignIn } from '../manifest/section.ts';

/**
 * The model of `server:`, with the proxies that other sections add. Where operations need
 * no credential, anyone who reaches the server may change its rows: by default only this machine does.
 */
export function buildServer(values: ManifestValues): ServerOptions {
  const { api } = values;
  const { port, host, ...server } = values.server;
  const others = present(values).flatMap(({ section, own }) => section.trustedProxies?.(own) ?? []);
  return {
    port,
    host: host ?? (signInOf(values) || api.access === 'user' ? '0.0.0.0' : '127.0.0.1'),
    ...server,
    trustedProxies: [...new Set([...server.trustedProxies, ...others])],
  };
}

/** The model of `api:`. With sign-in, operations without a rule need a user by default. */
export function buildApi(values: ManifestValues): Api {
  const { path, access, mcp, ...rest } = values.api;
  return {
    path,
    access: access ?? (signInOf(values) ? 'user' : 'public'),
    ...rest,
    ...(mcp && { mcp }),
    trustedDocuments: trustedDocuments(values),
  };
}

/**
 * If there is a front end, the list of trusted documents is read, so that a hash alone is enough.
 * Other documents are still allowed.
 */
function trustedDocuments({ api, client }: ManifestValues): Api['trustedDocuments'] {
  return api.trustedDocuments ?? (client ? { file: 'documents.json', required: false } : null);
}

/** The model of `observability:`; undefined when all of it is off. */
export function buildObservability({
  observability: { traces, metrics },
}: ManifestValues): Observability | undefined {
  if (!traces && metrics === false) return undefined;
  return {
    ...(traces && { traces }),
    ...(metrics !== false && {
      metrics: metrics === true ? METRICS : (metrics as MetricsSettings),
    }),
  };
}

const METRICS: MetricsSettings = { path: '/metrics', port: null };

/** The sign-in settings; null if the manifest does not enable sign-in. */
export function signInOf(values: ManifestValues): SignIn | null {
  for (const { section, own } of present(values)) if (section.signIn) return section.signIn(own);
  return null;
}

/** The enabled sections at the top of the manifest, each with its values. */
function present(values: ManifestValues) {
  return sections.flatMap((section) => {
    const own = values[section.name as keyof ManifestValues];
    return section.within === undefined && own !== undefined ? [{ section, own }] : [];
  });
}
