import type { StartedDeployment } from '../deploy/deployer.ts';
import type { GitSource, HostedApp, Trigger } from '../records/app.ts';
import { gitTokenKey } from '../records/settings-table.ts';
import { assertGitRef, parseGitUrl } from '../source/git-url.ts';
import { sourceFolder } from '../source/plan.ts';
import type { Leader } from '../leader.ts';

/** Builds and deploys a git repository. The token is encrypted and kept for the next deployment. */
export async function deployGit(
  leader: Leader,
  app: HostedApp,
  { commit: _commit, ...source }: GitSource,
  { trigger, token }: { readonly trigger: Trigger; readonly token?: string | undefined },
): Promise<StartedDeployment> {
  parseGitUrl(source.url, leader.model.git);
  if (source.ref !== undefined) assertGitRef(source.ref);
  sourceFolder(source.path ?? '');
  const credentials = await credentialsFor(leader, app, { url: source.url, token });
  return leader.deployer.begin(app, {
    trigger,
    source,
    builds: true,
    prepare: leader.sources.fromGit({ source, ...credentials }),
  });
}

/**
 * The token and the deploy key with which an app's source is fetched: its own, or for a preview
 * those of the app that it shows a change of.
 */
async function credentialsFor(
  leader: Leader,
  app: HostedApp,
  wanted: { readonly url: string; readonly token: string | undefined },
) {
  const { apps, deployKeys } = leader;
  const shown = app.spec.preview && apps.byId(app.spec.preview.app_id);
  const token = await tokenFor(leader, app, wanted);
  const key = await deployKeys.privateKey(app.id);
  if (!shown) return { token, key };
  return {
    token: token ?? (await tokenFor(leader, shown, { ...wanted, token: undefined })),
    key: key ?? (await deployKeys.privateKey(shown.id)),
  };
}

/** The given token, or the kept one, which is sent only to the host for which it was given. */
async function tokenFor(
  { model, vault }: Leader,
  app: HostedApp,
  { url, token }: { readonly url: string; readonly token: string | undefined },
): Promise<string | undefined> {
  const hostOf = (address: string) => new URL(parseGitUrl(address, model.git).url).host;
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
