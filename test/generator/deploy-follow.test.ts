import { describe, expect, it } from 'vitest';
import { followDeployment } from '../../generator/deploy/follow.ts';
import type { DeploymentReport, HostingServer } from '../../generator/deploy/hosting-server.ts';
import { CommandError } from '../../generator/failure.ts';

const away = () =>
  new CommandError('SERVER_AWAY', { message: 'it does not answer', fix: 'start it' });

/** A server whose log stream breaks after each line, some time later; `status` is what it says of the deployment. */
function server(
  lines: string[],
  status: () => DeploymentReport['status'],
  silence = 60,
): HostingServer {
  let turn = 0;
  return {
    async *buildLog() {
      turn += 1;
      yield* lines.slice(0, turn);
      if (turn >= lines.length) return;
      await new Promise((resolve) => setTimeout(resolve, silence));
      throw new TypeError('terminated');
    },
    deployment: async () => ({
      number: 1,
      status: turn >= lines.length ? status() : 'building',
      reason: null,
      log: [],
    }),
  } as unknown as HostingServer;
}

describe('following a deployment', () => {
  it('goes on for as long as the build runs, however often its silent stream breaks', async () => {
    const said: string[] = [];
    const followed = { app: 'shop', number: 1, onLine: (line: string) => void said.push(line) };
    const ended = await followDeployment(
      server(['one', 'two', 'three', 'four'], () => 'healthy'),
      followed,
      20,
    );
    expect([ended.status, said]).toEqual(['healthy', ['one', 'two', 'three', 'four']]);
  });

  it('ends when the server itself is away for too long', async () => {
    const gone = {
      async *buildLog(): AsyncGenerator<string> {
        yield await Promise.reject(away());
      },
      deployment: async () => {
        throw away();
      },
    } as unknown as HostingServer;
    await expect(
      followDeployment(gone, { app: 'shop', number: 1, onLine: () => {} }, 20),
    ).rejects.toMatchObject({ code: 'SERVER_AWAY' });
  });
});
