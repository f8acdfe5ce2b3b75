import type { AuditLog } from '@twofold/runtime/kernel';
import { type Call, type Reply, reply } from '@twofold/runtime/http';
import type { Core } from '../core.ts';
import type { Previews } from '../previews/previews.ts';
import type { PullRequestEvent } from '../previews/pull-request.ts';
import type { GitSource, HostedApp } from '../records/app.ts';
import { showPreviewRules } from '../records/previews.ts';

/** Builds and deploys a commit, or puts it behind the build that runs now. */
export type DeployPush = (app: HostedApp, git: GitSource) => Promise<Reply>;

interface Parts {
  readonly previews: Previews;
  readonly audit: AuditLog | undefined;
  readonly deploy: DeployPush;
}

interface Signed {
  readonly call: Call;
  /** Marks the delivery as received. @throws AppError 409 when it already was. */
  readonly claim: () => Promise<void>;
}

const IGNORED = { status: 'ignored' } as const;

/** What the signed webhook of a pull request does to its preview. */
export function createPullRequests(core: Core, { previews, audit, deploy }: Parts) {
  const record = ({ call }: Signed, target: string, event: PullRequestEvent) =>
    audit?.record(call.context, {
      ...{ action: 'webhook', target },
      detail: { action: event.action, branch: event.branch, commit: event.commit },
    });

  const close = async (preview: HostedApp, event: PullRequestEvent, signed: Signed) => {
    await signed.claim();
    await record(signed, preview.name, event);
    await previews.expire(preview);
    return reply(202, { status: 'removing', app: preview.name });
  };

  const open = async (
    app: HostedApp,
    git: GitSource,
    { event, signed }: { readonly event: PullRequestEvent; readonly signed: Signed },
  ) => {
    // Without an engine nothing is claimed, so that the git host can send it again.
    core.connection.engine();
    await signed.claim();
    const { branch: ref, at: seen, fork } = event;
    const preview = await previews.prepare(app, { key: String(event.number), ref, seen, fork });
    if (!preview) return reply(200, IGNORED);
    await record(signed, preview.name, event);
    // The commit is fetched from the app's own repository, which has those of forks too.
    const { status, body } = await deploy(preview, { ...git, ref: event.commit });
    return reply(status, { ...(body as object), app: preview.name });
  };

  return async (app: HostedApp, event: PullRequestEvent, signed: Signed): Promise<Reply> => {
    const known = previews.find(app, String(event.number));
    if (event.action === 'close') return known ? close(known, event, signed) : reply(200, IGNORED);
    const { enabled, forks } = showPreviewRules(app.spec);
    const { source } = app.spec;
    const wanted = enabled && event.action === 'open' && (forks || !event.fork);
    if (!wanted || source?.kind !== 'git') return reply(200, IGNORED);
    return open(app, source, { event, signed });
  };
}
