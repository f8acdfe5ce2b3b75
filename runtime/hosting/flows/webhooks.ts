import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, failure } from '@twofold/runtime/errors';
import { stream } from '@twofold/schema';
import { bytesOf, type Call, type Reply, reply } from '@twofold/runtime/http';
import { deployGit } from './deploy-git.ts';
import type { Leader } from '../leader.ts';
import type { PullRequestEvent } from '../previews/pull-request.ts';
import { readBytes } from '../read-bytes.ts';
import type { GitSource, HostedApp } from '../records/app.ts';
import { showPreviewRules } from '../records/previews.ts';
import { webhookKey } from '../records/settings-table.ts';
import {
  createWebhookSecret,
  deliveryId,
  isSigned,
  readPush,
  type Push,
} from '../previews/webhooks.ts';
import { deleted, flow, ON_APP } from './flow.ts';

const MAX_BODY = 5 * 1024 * 1024;
const MAX_DELIVERIES = 20;
/** Used for an app that does not exist, so that the check takes the same time. */
const NO_SECRET = 'no such app';

export const getWebhook = flow('GET /api/apps/:name/webhook', {
  needs: 'apps:read',
  summary: 'Returns whether a push deploys the app, and the last deliveries',
  answers: { 200: ['The webhook, without its secret'] },
  refuses: ON_APP,
  async handle({ params }, { apps, store, vault }) {
    const app = apps.byName(params.name);
    const enabled = (await vault.get(webhookKey(app.id))) !== undefined;
    const rows = await store.db
      .selectFrom('hosting_deliveries')
      .select(['status', 'at'])
      .where('app_id', '=', app.id)
      .orderBy('at', 'desc')
      .limit(MAX_DELIVERIES)
      .execute();
    return reply(200, { enabled, path: `/api/webhooks/${app.name}`, deliveries: rows });
  },
});

export const putWebhook = flow('PUT /api/apps/:name/webhook', {
  needs: 'apps:write',
  summary: 'Creates or replaces the secret, which only this response shows',
  answers: { 200: ['The path and the secret of the webhook'] },
  refuses: ON_APP,
  async handle({ params }, { apps, vault }) {
    const app = apps.byName(params.name);
    const secret = createWebhookSecret();
    await vault.set(webhookKey(app.id), secret);
    return reply(200, { path: `/api/webhooks/${app.name}`, secret });
  },
});

export const deleteWebhook = flow('DELETE /api/apps/:name/webhook', {
  needs: 'apps:write',
  summary: 'Removes the webhook',
  answers: { 200: ['It was removed'] },
  refuses: ON_APP,
  async handle({ params }, { apps, vault }) {
    await vault.delete(webhookKey(apps.byName(params.name).id));
    return deleted();
  },
});

export const webhook = flow('POST /api/webhooks/:app', {
  needs: 'public',
  summary: 'Receives a signed push from GitHub, Gitea or GitLab',
  body: stream('application/json', { type: 'object' }),
  answers: { 200: ['No deployment is needed'], 202: ['The deployment has started'] },
  refuses: [400, 401, 409, 413],
  async handle(call, leader) {
    const { apps, audit, vault } = leader;
    const push: Push = {
      headers: call.context.headers,
      body: await readBytes(bytesOf(call.koa.req), MAX_BODY),
    };
    const app = apps.all().find(({ name }) => name === call.params.app);
    const secret = app && (await vault.get(webhookKey(app.id)));
    if (!isSigned(push, secret ?? NO_SECRET) || !app || secret === undefined)
      throw failure.unauthenticated('Invalid signature');
    const event = readPush(push);
    if (event.kind === 'ping') return reply(200, { status: 'pong' });
    const claim = () => claimDelivery(leader, app, push);
    if (event.kind === 'pull_request')
      return onPullRequest(leader, app, { event, call: call as Call, claim });
    const git = app.spec.source?.kind === 'git' ? app.spec.source : null;
    if (
      event.kind === 'other' ||
      event.deleted ||
      !git ||
      (git.ref !== undefined && git.ref !== event.branch)
    )
      return reply(200, { status: 'ignored' });
    await claim();
    await audit?.record(call.context, {
      action: 'webhook',
      target: app.name,
      detail: { branch: event.branch, commit: event.commit },
    });
    return deployPush(leader, app, git);
  },
});

/** The primary key refuses a second delivery with the same id, even when both arrive at once. */
async function claimDelivery({ store, now }: Leader, app: HostedApp, push: Push): Promise<void> {
  const at = new Date(now()).toISOString();
  const added = await store.db
    .insertInto('hosting_deliveries')
    .values({ app_id: app.id, id: deliveryId(push), status: 'accepted', at })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst();
  if (!added) throw failure.conflict('This delivery was already received');
}

/**
 * Builds and deploys a commit. A push during a deployment waits. Of several waiting pushes only the
 * newest is deployed.
 */
async function deployPush(leader: Leader, app: HostedApp, git: GitSource): Promise<Reply> {
  const { operations, pushes } = leader;
  const waitAndFollow = async () => {
    while (operations.running(app.id) !== undefined) await sleep(250, undefined, { ref: false });
    await deployWaiting(leader, app.id);
  };
  try {
    const { deployment, done } = await deployGit(leader, app, git, { trigger: 'webhook' });
    void done.catch(() => {}).then(() => deployWaiting(leader, app.id));
    return reply(202, { status: 'deploying', deployment: deployment.number });
  } catch (error) {
    if (!(error instanceof AppError) || error.status !== 409) throw error;
    const waits = pushes.has(app.id);
    pushes.set(app.id, git);
    if (!waits) void waitAndFollow();
    return reply(202, { status: 'queued' });
  }
}

async function deployWaiting(leader: Leader, appId: string): Promise<void> {
  const git = leader.pushes.get(appId);
  const app = leader.apps.byId(appId);
  leader.pushes.delete(appId);
  if (git && app)
    await deployPush(leader, app, git).catch((error: Error) =>
      leader.log.warn(`${app.name}: ${error.message}`),
    );
}

interface SignedEvent {
  readonly event: PullRequestEvent;
  readonly call: Call;
  /** Marks the delivery as received. @throws AppError 409 when it already was. */
  readonly claim: () => Promise<void>;
}

const IGNORED = { status: 'ignored' } as const;

/** What the signed webhook of a pull request does to its preview. */
async function onPullRequest(leader: Leader, app: HostedApp, signed: SignedEvent): Promise<Reply> {
  const { previews } = leader;
  const { event, claim } = signed;
  const known = previews.find(app, String(event.number));
  if (event.action === 'close') {
    if (!known) return reply(200, IGNORED);
    await claim();
    await record(leader, known.name, signed);
    await previews.expire(known);
    return reply(202, { status: 'removing', app: known.name });
  }
  const { enabled, forks } = showPreviewRules(app.spec);
  const { source } = app.spec;
  const wanted = enabled && event.action === 'open' && (forks || !event.fork);
  if (!wanted || source?.kind !== 'git') return reply(200, IGNORED);
  // Without an engine nothing is claimed, so that the git host can send it again.
  leader.connection.engine();
  await claim();
  const { branch: ref, at: seen, fork } = event;
  const preview = await previews.prepare(app, { key: String(event.number), ref, seen, fork });
  if (!preview) return reply(200, IGNORED);
  await record(leader, preview.name, signed);
  // The commit is fetched from the app's own repository, which has those of forks too.
  const { status, body } = await deployPush(leader, preview, { ...source, ref: event.commit });
  return reply(status, { ...(body as object), app: preview.name });
}

const record = ({ audit }: Leader, target: string, { event, call }: SignedEvent) =>
  audit?.record(call.context, {
    action: 'webhook',
    target,
    detail: { action: event.action, branch: event.branch, commit: event.commit },
  });
