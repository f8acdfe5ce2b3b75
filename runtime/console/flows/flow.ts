import type { ConsoleModel, JsonSchema } from '@twofold/schema';
import { object, text } from '@twofold/schema/shapes';
import { InternalError } from '@twofold/runtime/errors';
import { flowsOf } from '@twofold/runtime/http';
import type { Kernel, Recorder } from '@twofold/runtime/kernel';

/** What the flows of the console use. */
export interface ConsoleState {
  readonly kernel: Kernel;
  readonly model: ConsoleModel;
  /** Whether the operator has a password. */
  readonly operator: boolean;
  /** The answer of `GET /api/system/info`. */
  readonly info: () => Promise<object>;
  /** The streams that are open, which end when the server stops. */
  readonly streams: Set<() => void>;
}

/** How a flow of the console is written. */
export const flow = flowsOf<ConsoleState>({
  tag: 'console',
  refused: { description: '', schema: object({ error: text }, ['error']) },
  refuses: {
    401: 'A credential is missing or wrong',
    403: 'The caller may not do this',
  },
});

export const READS = { needs: 'system:read' } as const;

/** An object whose members are all there. */
export const whole = <const Properties extends Readonly<Record<string, JsonSchema>>>(
  properties: Properties,
) => object(properties, Object.keys(properties) as Extract<keyof Properties, string>[]);

/** The capability asks for a recorder, so that the kernel has one. */
export function recorderOf({ recorder }: Kernel): Recorder {
  if (!recorder) throw new InternalError('the console was made without a recorder');
  return recorder;
}
