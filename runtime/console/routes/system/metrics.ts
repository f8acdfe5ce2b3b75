import { InternalError } from '@twofold/runtime/errors';
import { type Handler, reply } from '@twofold/runtime/http';
import type { FigureRange, Kernel, Recorder } from '@twofold/runtime/kernel';

/** `GET /api/system/metrics`. */
export function readFigures(kernel: Kernel): Handler {
  const recorder = recorderOf(kernel);
  return async ({ query }) =>
    reply(200, await recorder.figures((query as { range: FigureRange }).range));
}

/** The capability asks for a recorder, so that the kernel has one. */
export function recorderOf({ recorder }: Kernel): Recorder {
  if (!recorder) throw new InternalError('the console was made without a recorder');
  return recorder;
}
