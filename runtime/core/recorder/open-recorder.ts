import type { Metrics } from '../metrics/registry.ts';
import { createRecorder, type Recorder } from './recorder.ts';
import { createSampler } from './sampler.ts';

/**
 * The recorder of this process, which may be one of several workers.
 *
 * @param metrics the counters of the page for Prometheus, where it is on.
 */
export async function openRecorder(metrics?: Metrics): Promise<Recorder> {
  const sampler = createSampler(metrics);
  if (!process.connected) return createRecorder(sampler);
  const { default: cluster } = await import('node:cluster');
  if (!cluster.isWorker) return createRecorder(sampler);
  const { createWorkerRecorder } = await import('./worker-recorder.ts');
  return createWorkerRecorder(sampler);
}
