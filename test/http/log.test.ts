import { describe, expect, it } from 'vitest';
import { createLog, type LogOptions } from '../../runtime/core/config/log.ts';
import { run } from '../server/program.ts';

function logTo(options: Partial<LogOptions> = {}) {
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  return { lines, log: createLog({ level: 'info', ...options }, destination) };
}

describe('the log', () => {
  it('writes a line of JSON with level, time, fields and message', () => {
    const { lines, log } = logTo();
    log.info({ title: 'One' }, 'posted');
    log.warn('%s of %d', 'two', 3);
    log.child({ requestId: 'r1' }).error({ path: ['a'] });
    const time = expect.any(Number);
    expect(lines).toEqual([
      { level: 30, time, title: 'One', msg: 'posted' },
      { level: 40, time, msg: 'two of 3' },
      { level: 50, time, requestId: 'r1', path: ['a'] },
    ]);
  });

  it('leaves out what is less grave than its level', () => {
    const { lines, log } = logTo({ level: 'warn' });
    log.info('no');
    log.child({}).debug('no');
    log.warn('yes');
    expect(lines.map(({ msg }) => msg)).toEqual(['yes']);
    const silent = logTo({ level: 'silent' });
    silent.log.fatal('no');
    expect(silent.lines).toEqual([]);
  });

  it('hides secrets at the top, one level below and in what a child adds', () => {
    const { lines, log } = logTo({ secret: ['password'] });
    const given = { password: 'hunter2', body: { password: 'hunter2', email: 'a@b' } };
    log.info(given, 'asked');
    log.child(given).info('asked');
    const hidden = { password: '[secret]', body: { password: '[secret]', email: 'a@b' } };
    expect(lines).toMatchObject([hidden, hidden]);
    expect(given.body.password).toBe('hunter2');
  });

  it('writes errors with their stack and cause', () => {
    const { lines, log } = logTo();
    log.error(new TypeError('bad', { cause: new Error('worse') }));
    expect(lines[0]).toMatchObject({
      msg: 'bad',
      err: { type: 'TypeError', message: 'bad', cause: { message: 'worse' } },
    });
    expect(JSON.stringify(lines[0])).toContain('log.test');
  });

  it('writes a line for what JSON cannot say', () => {
    const { lines, log } = logTo();
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    log.info({ big: 10n, circle, nothing: undefined, work: () => {} }, 'odd');
    expect(lines[0]).toMatchObject({ big: '10', msg: 'odd' });
    expect(lines[0]?.['circle']).toMatch(/^\[not written: /);
    expect(Object.keys(lines[0] ?? {})).toEqual(['level', 'time', 'big', 'circle', 'msg']);
  });
});

describe('the log of a process', () => {
  it('is whole when the process exits at once', async () => {
    const program = run(
      `import { createLogger } from '${new URL('../../runtime/core/config/logger.ts', import.meta.url)}';
       import { createSettings } from '${new URL('../../runtime/core/config/settings.ts', import.meta.url)}';
       const log = createLogger(createSettings({ NODE_ENV: 'production' }));
       for (let i = 0; i < 20_000; i++) log.info({ i }, 'x'.repeat(100));
       process.exit(0);`,
    );
    expect(await program.ended).toBe(0);
    const lines = program.output().trim().split('\n');
    expect(lines).toHaveLength(20_000);
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ i: 19_999 });
  });
});
