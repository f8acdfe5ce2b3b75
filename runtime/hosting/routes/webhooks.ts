import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, failure } from '@twofold/runtime/errors';
import type { AuditLog, Store } from '@twofold/runtime/kernel';
import type { GitSource, HostedApp } from '../records/app.ts';
import { webhookKey } from '../records/vault.ts';
import { type Call, type Reply, reply, bytesOf } from '@twofold/runtime/http';
import { readBytes } from '../read-bytes.ts';
import { createWebhookSecret, deliveryId, isSigned, readPush, type Push } from '../webhooks.ts';
import type { Previews } from '../previews/previews.ts';
import { deployGit, type SourceParts } from './git-deploys.ts';
import { createPullRequests, type DeployPush } from './pull-requests.ts';

const MAX_BODY = 5 * 1024 * 1024;
const MAX_DELIVERIES = 20;
/** Used for an app that does not exist, so that the check takes the same time. */
const NO_SECRET = 'no such app';

export function webhookHandlers(
  parts: SourceParts,
  {
    store,
    audit,
    previews,
  }: {
    readonly store: Store;
    readonly audit: AuditLog | undefined;
    readonly previews: Previews;
  },
) {
  const { core, vault } = parts;
  const named = ({ params }: Call) => core.apps.byName(params['name'] as string);
  const deploy = createPushQueue(parts);
  const onPullRequest = createPullRequests(core, { previews, audit, deploy });
  return {
    async getWebhook(call: Call) {
      const app = named(call);
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

    async putWebhook(call: Call) {
      const app = named(call);
      const secret = createWebhookSecret();
      await vault.set(webhookKey(app.id), secret);
      return reply(200, { path: `/api/webhooks/${app.name}`, secret });
    },

    async deleteWebhook(call: Call) {
      await vault.delete(webhookKey(named(call).id));
      return reply(200, { status: 'deleted' });
    },

    async webhook(call: Call): Promise<Reply> {
      const push: Push = {
        headers: call.context.headers,
        body: await readBytes(bytesOf(call.koa.req), MAX_BODY),
      };
      const app = core.apps.all().find(({ name }) => name === call.params['app']);
      const secret = app && (await vault.get(webhookKey(app.id)));
      if (!isSigned(push, secret ?? NO_SECRET) || !app || secret === undefined)
        throw failure.unauthenticated('Invalid signature');
      const event = readPush(push);
      if (event.kind === 'ping') return reply(200, { status: 'pong' });
      const claim = () =>
        claimDelivery(store, {
          app_id: app.id,
          id: deliveryId(push),
          status: 'accepted',
          at: new Date(core.now()).toISOString(),
        });
      if (event.kind === 'pull_request') return onPullRequest(app, event, { call, claim });
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
      return deploy(app, git);
    },
  };
}

/** The primary key refuses a second delivery with the same id, even when both arrive at once. */
async function claimDelivery(
  { db }: Store,
  row: {
    readonly app_id: string;
    readonly id: string;
    readonly status: string;
    readonly at: string;
  },
): Promise<void> {
  const added = await db
    .insertInto('hosting_deliveries')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst();
  if (!added) throw failure.conflict('This delivery was already received');
}

/** A push during a deployment waits. Of several waiting pushes only the newest is deployed. */
function createPushQueue(parts: SourceParts): DeployPush {
  const { core } = parts;
  const next = new Map<string, GitSource>();

  const begin = async (app: HostedApp, git: GitSource): Promise<Reply> => {
    try {
      const { deployment, done } = await deployGit(parts, app, git, { trigger: 'webhook' });
      void done.catch(() => {}).then(() => follow(app.id));
      return reply(202, { status: 'deploying', deployment: deployment.number });
    } catch (error) {
      if (!(error instanceof AppError) || error.status !== 409) throw error;
      const waits = next.has(app.id);
      next.set(app.id, git);
      if (!waits) void waitAndFollow(app.id);
      return reply(202, { status: 'queued' });
    }
  };
  const waitAndFollow = async (appId: string) => {
    while (core.operations.running(appId) !== undefined)
      await sleep(250, undefined, { ref: false });
    await follow(appId);
  };
  const follow = async (appId: string) => {
    const git = next.get(appId);
    const app = core.apps.byId(appId);
    next.delete(appId);
    if (git && app)
      await begin(app, git).catch((error: Error) => core.log.warn(`${app.name}: ${error.message}`));
  };
  return begin;
}
