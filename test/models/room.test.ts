import { describe, expect, it } from 'vitest';
import { createRoom } from '../../runtime/models/pool/room.ts';

const GIB = 2 ** 30;
const model = (size: number) =>
  ({ id: 'org/m', size }) as Parameters<ReturnType<typeof createRoom>['fits']>[0];

describe('room for a model', () => {
  it('is refused at once if the limit is too small for it, whatever is loaded', () => {
    const room = createRoom({
      memory: () => 60 * GIB,
      gpus: () => [],
      limits: { memory: 4 * GIB, gpuMemory: 'auto' },
    });
    const loaded = [{ model: model(3 * GIB) }];
    expect(room.problem(model(6 * GIB), loaded)).toMatchObject({ status: 507 });
    expect(room.problem(model(2 * GIB), loaded)).toBeNull();
    expect(room.fits(model(2 * GIB), loaded)).toBe(false);
    expect(room.fits(model(2 * GIB), [])).toBe(true);
  });

  it('counts what the loaded models will free', () => {
    const room = createRoom({
      memory: () => GIB,
      gpus: () => [],
      limits: { memory: 'auto', gpuMemory: 'auto' },
    });
    expect(room.problem(model(3 * GIB), [])).toMatchObject({ status: 507 });
    expect(room.problem(model(3 * GIB), [{ model: model(4 * GIB) }])).toBeNull();
  });
});
