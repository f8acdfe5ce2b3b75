import { type Flow, reply } from '@twofold/runtime/http';
import type { Leader } from '../leader.ts';
import { renderRequestMetrics } from '../ingress/request-metrics.ts';
import { PROMETHEUS, renderMetrics } from '../host/stats.ts';
import { flow } from './flow.ts';

/** The part of the page of figures, which the leader makes. It is no route of its own. */
export const FIGURES: Flow<Leader> & { readonly id: string } = {
  ...flow('GET /figures', {
    needs: 'public',
    tag: 'system',
    summary: 'Returns the usage of all apps',
    answers: { 200: ['Prometheus text', 'text/plain'] },
    async handle(_call, { apps, connection, ingress, stats }) {
      const measured = connection.info() === null ? [] : apps.all();
      const usage = renderMetrics(
        await Promise.all(measured.map(async (app) => ({ app, replicas: await stats.read(app) }))),
      );
      const figures = await ingress.figures();
      const requests = apps.all().flatMap(({ id, name }) => {
        const found = figures[id];
        return found ? [{ name, figures: found }] : [];
      });
      return reply(200, usage + renderRequestMetrics(requests), PROMETHEUS);
    },
  }),
  id: 'figures',
};
