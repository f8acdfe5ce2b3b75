import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import { closeAll, serveRoutes } from '../routes/harness.ts';

afterEach(closeAll);

describe('LOG_FORMAT=pretty', () => {
  it('prints one line a request: time, method, path or operation, status, ms', async () => {
    const { ask, lines } = await serveRoutes((router) => void router.get('/own', () => 'own'), {
      env: { LOG_FORMAT: 'pretty' },
    });
    await ask('GET /own?secret=1');
    const body = { query: 'query Names { articles { title } }' };
    await ask('POST /graphql', { body });
    await expect.poll(() => lines.filter((line) => line.includes(' ms')).length).toBe(2);
    const [own, operation] = lines.filter((line) => line.includes(' ms'));
    expect(own).toMatch(
      /^\d\d:\d\d:\d\d\.\d{3} info {2}GET \/own 200 [\d.]+ ms {2}requestId=\S+\n$/,
    );
    expect(operation).toContain('POST /graphql query Names 200');
  });

  it('prints errors with their stack and causes, and one requestId a line', async () => {
    const { ask, lines } = await serveRoutes(
      (router) => {
        router.get('/bug', () => {
          throw new Error('outer', { cause: new Error('inner') });
        });
        router.get('/logged', (ctx) => {
          ctx.log.error({ err: new Error('seen', { cause: new Error('why') }) }, 'caught');
          ctx.log.info({ requestId: ctx.id }, 'twice');
        });
      },
      { env: { LOG_FORMAT: 'pretty' } },
    );
    await ask('GET /bug');
    await ask('GET /logged');
    const text = lines.join('');
    expect(text).toMatch(/error request failed[^\n]*\nError: outer\n {4}at /);
    expect(text).toMatch(/caused by: Error: inner\n {4}at /);
    expect(text).toMatch(/error caught[^\n]*\nError: seen\n {4}at [^]*caused by: Error: why/);
    for (const line of lines) expect(line.match(/requestId=/g)?.length ?? 0).toBeLessThan(2);
  });

  it('is refused when it is neither json nor pretty', async () => {
    await expect(serveRoutes(undefined, { env: { LOG_FORMAT: 'xml' } })).rejects.toThrow(
      'LOG_FORMAT must be json or pretty',
    );
  });
});

describe('LOG_FORMAT=json', () => {
  it('has one document a line and no line for each request', async () => {
    const { ask, lines } = await serveRoutes((router) => {
      router.get('/own', (ctx) => ctx.log.info({ requestId: ctx.id }, 'asked'));
    });
    await ask('GET /own');
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual([
      expect.stringContaining('listening'),
      'asked',
    ]);
    expect(lines.at(-1)?.match(/"requestId"/g)).toHaveLength(1);
  });
});

describe('LOG_LEVEL', () => {
  const statements = async (level: string, env: Record<string, string> = {}) => {
    const { ask, lines } = await serveRoutes(
      (router) => {
        router.get('/own', async (ctx) => {
          await ctx.db.selectFrom('articles').select('id').where('slug', '=', 'secret-7').execute();
          await sql`select ${'secret-8'} as auth_tokens`.execute(ctx.db);
        });
      },
      { env: { LOG_LEVEL: level, MIGRATE: 'on', ...env } },
    );
    await ask('GET /own');
    await ask('POST /graphql', { body: { query: '{ articles { title } }' } });
    return lines.map((line) => JSON.parse(line)).filter(({ ms }) => ms !== undefined);
  };

  it('debug shows every statement with its ms, of the query builder and of GraphQL', async () => {
    const found = await statements('debug');
    const texts = found.map(({ msg }) => msg).join('\n');
    expect(texts).toContain('"slug" = ?');
    expect(texts).toMatch(/select .*title/);
    expect(JSON.stringify(found)).not.toContain('secret-7');
    expect(found.every(({ ms }) => typeof ms === 'number')).toBe(true);
  });

  it('trace shows their values in development, never those of auth tables', async () => {
    const text = JSON.stringify(await statements('trace'));
    expect(text).toContain('secret-7');
    expect(text).not.toContain('secret-8');
    const production = await statements('trace', { NODE_ENV: 'production' });
    expect(JSON.stringify(production)).not.toContain('secret-7');
  });
});
