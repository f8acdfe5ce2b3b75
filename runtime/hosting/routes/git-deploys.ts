import type { BuildLogs } from '../deploy/build-logs.ts';
import type { StartedDeployment } from '../deploy/deployer.ts';
import type { SourceDeploys } from '../deploy/source-deploys.ts';
import type { GitSource, HostedApp, Trigger } from '../records/app.ts';
import { gitTokenKey, type Vault } from '../records/vault.ts';
import { assertGitRef, parseGitUrl } from '../source/git-url.ts';
import { sourceFolder } from '../source/plan.ts';
import type { RouteParts } from './apps.ts';

/** Shared by the routes that deploy from source. */
export interface SourceParts extends RouteParts {
  readonly sources: SourceDeploys;
  readonly buildLogs: BuildLogs;
  readonly vault: Vault;
}

/** Builds and deploys a git repository. The token is encrypted and kept for the next deployment. */
export async function deployGit(
  parts: SourceParts,
  app: HostedApp,
  { commit: _commit, ...source }: GitSource,
  { trigger, token }: { readonly trigger: Trigger; readonly token?: string | undefined },
): Promise<StartedDeployment> {
  parseGitUrl(source.url, parts.core.model.git);
  if (source.ref !== undefined) assertGitRef(source.ref);
  sourceFolder(source.path ?? '');
  const credentials = await credentialsFor(parts, app, { url: source.url, token });
  return parts.deployer.begin(app, {
    trigger,
    source,
    builds: true,
    prepare: parts.sources.fromGit({ source, ...credentials }),
  });
}

/**
 * The token and the deploy key with which an app's source is fetched: its own, or for a preview
 * those of the app that it shows a change of.
 */
async function credentialsFor(
  parts: SourceParts,
  app: HostedApp,
  wanted: { readonly url: string; readonly token: string | undefined },
) {
  const { apps, deployKeys } = parts.core;
  const shown = app.spec.preview && apps.byId(app.spec.preview.app_id);
  const token = await tokenFor(parts, app, wanted);
  const key = await deployKeys.privateKey(app.id);
  if (!shown) return { token, key };
  return {
    token: token ?? (await tokenFor(parts, shown, { ...wanted, token: undefined })),
    key: key ?? (await deployKeys.privateKey(shown.id)),
  };
}

/** The given token, or the kept one, which is sent only to the host for which it was given. */
async function tokenFor(
  { core, vault }: SourceParts,
  app: HostedApp,
  { url, token }: { readonly url: string; readonly token: string | undefined },
): Promise<string | undefined> {
  const hostOf = (address: string) => new URL(parseGitUrl(address, core.model.git).url).host;
  const key = gitTokenKey(app.id);
  if (token !== undefined) {
    await vault.set(key, JSON.stringify({ host: hostOf(url), token }));
    return token;
  }
  const kept = await vault.get(key);
  if (kept === undefined) return undefined;
  if (kept.startsWith('{"host":')) {
    const known = JSON.parse(kept) as { readonly host: string; readonly token: string };
    return known.host === hostOf(url) ? known.token : undefined;
  }
  // An earlier version stored the token without its host, which was the host of the app's source.
  const { source } = app.spec;
  return source?.kind === 'git' && hostOf(source.url) === hostOf(url) ? kept : undefined;
}
