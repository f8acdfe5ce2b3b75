import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { createIngress, type Ingress, type IngressOptions } from './ingress.ts';
import type { IngressRecords } from './control.ts';
import { findRunning } from './remote.ts';

/** Milliseconds in which an ingress process must close its ports after it was asked to leave. */
const RELEASE_TIMEOUT = 5000;

/**
 * An ingress inside the server. When an earlier server has left an ingress process running, that
 * process is asked to leave.
 */
export function createInlineIngress(
  options: IngressOptions & { readonly records: IngressRecords },
): Ingress {
  const ingress = createIngress(options);
  const { records } = options;
  return {
    ...ingress,
    async listen() {
      const running = await findRunning(records);
      running?.tell({ type: 'leave', timeout: RELEASE_TIMEOUT });
      const until = running ? Date.now() + RELEASE_TIMEOUT : 0;
      let listening = await ingress.listen();
      while (Object.keys(listening.refused).length > 0 && Date.now() < until) {
        await sleep(100);
        listening = await ingress.listen();
      }
      running?.end();
      const { http, https } = listening;
      await records.write({ host: hostname(), pid: process.pid, socket: null, http, https });
      return listening;
    },
  };
}
