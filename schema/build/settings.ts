import type { Api, ServerOptions } from '../model.ts';
import { sections, type ManifestValues } from '../sections.ts';
import type { SignIn } from '../manifest/section.ts';

/** `server:` of the manifest, with the proxies that other sections name. */
export function buildServer(values: ManifestValues): ServerOptions {
  const { server } = values;
  const others = present(values).flatMap(({ section, own }) => section.trustedProxies?.(own) ?? []);
  return { ...server, trustedProxies: [...new Set([...server.trustedProxies, ...others])] };
}

/** `api:` of the manifest. With signing in, what says nothing about access needs a user. */
export function buildApi(values: ManifestValues): Api {
  const { path, access, ...rest } = values.api;
  return { path, access: access ?? (signInOf(values) ? 'user' : 'public'), ...rest };
}

/** How people sign in; null where the manifest does not switch it on. */
export function signInOf(values: ManifestValues): SignIn | null {
  for (const { section, own } of present(values)) if (section.signIn) return section.signIn(own);
  return null;
}

/** The sections at the top of the manifest that are switched on, each with its values. */
function present(values: ManifestValues) {
  return sections.flatMap((section) => {
    const own = values[section.name as keyof ManifestValues];
    return section.within === undefined && own !== undefined ? [{ section, own }] : [];
  });
}
