import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser } from './browser.ts';
import { databases, type Firm, founder, startFirm } from './organizations-server.ts';
import { openForm } from './page-forms.ts';
import { GOOD } from './server.ts';

describe.each(databases)('§12 the page of an invitation on %s', (database) => {
  let firm: Firm;
  let ann: Awaited<ReturnType<typeof founder>>;
  beforeAll(async () => {
    firm = await startFirm(database);
    ann = await founder(firm, 'ann');
  });
  afterAll(() => firm?.close());

  const invited = async (email: string) => {
    const { status } = await firm.call(
      'POST',
      `/api/auth/organizations/${ann.company}/invitations`,
      { email, role: 'Member' },
      ann.headers,
    );
    expect(status).toBe(201);
    return firm.mailed(email);
  };
  const at = (path: string) => `${firm.url}/auth/${path}`;
  const members = async () => {
    const path = `/api/auth/organizations/${ann.company}/members`;
    const { body } = await firm.call('GET', path, undefined, ann.headers);
    return (body.members as { email: string }[]).map(({ email }) => email).sort();
  };
  /** Signs in on the page that the invitation leads to, and comes back. */
  const signedIn = async (email: string, token: string) => {
    const browser = openBrowser();
    const start = await openForm(browser, at(`invitation?token=${token}`));
    const [, href = ''] = /href="(\/auth\/sign-in[^"]+)"/.exec(start.html)!;
    const page = await openForm(browser, `${firm.url}${href.replaceAll('&#38;', '&')}`);
    const { location } = await page.post({ email, password: GOOD });
    expect(location).toBe(`/auth/invitation?token=${token}`);
    return openForm(browser, `${firm.url}${location}`);
  };

  it('is accepted once, by the user who was invited', async () => {
    const bob = await firm.person('bob');
    await firm.verify(bob.email);
    const eve = await firm.person('eve');
    await firm.verify(eve.email);
    const token = await invited(bob.email);
    const theirs = await signedIn(eve.email, token);
    expect((await theirs.post({ do: 'accept' })).status).toBe(403);
    expect(await members()).toEqual([ann.email]);
    const page = await signedIn(bob.email, token);
    expect((await page.post({ do: 'accept' })).html).toContain('You are a member now.');
    expect(await members()).toEqual([ann.email, bob.email]);
    expect((await page.post({ do: 'accept' })).status).toBe(400);
  });

  it('is declined, and then of no use', async () => {
    const dan = await firm.person('dan');
    await firm.verify(dan.email);
    const before = await members();
    const token = await invited(dan.email);
    const page = await signedIn(dan.email, token);
    expect((await page.post({ do: 'decline' })).html).toContain('The invitation was declined.');
    expect((await page.post({ do: 'accept' })).status).toBe(400);
    expect(await members()).toEqual(before);
  });

  it('leads to a new account, which is a member at once', async () => {
    const token = await invited('new@x.test');
    const browser = openBrowser();
    const start = await openForm(browser, at(`invitation?token=${token}`));
    const [, href = ''] = /href="(\/auth\/register\?invitation=[^"]+)"/.exec(start.html)!;
    const page = await openForm(browser, `${firm.url}${href}`);
    const made = await page.post({ email: 'new@x.test', password: GOOD, name: 'New' });
    expect([made.status, made.location]).toEqual([303, '/auth/account']);
    expect(await members()).toContain('new@x.test');
  });

  it('without a token, and in a project without organizations, there is no form', async () => {
    const page = await openForm(openBrowser(), at('invitation'));
    expect([page.status, page.html.includes('<form')]).toEqual([400, false]);
  });
});
