import type { Browser } from './browser.ts';

/** Opens a page; `post` sends its form with the cookies and the token, as a browser does. */
export async function openForm(browser: Browser, url: string) {
  const page = await browser.visit(url);
  const html = await page.text();
  const form_token = /name="form_token" value="([^"]+)"/.exec(html)?.[1] ?? '';
  const { origin } = new URL(url);
  const post = async (values: Readonly<Record<string, string>> = {}) => {
    const answer = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      headers: { Cookie: cookiesOf(browser, origin), 'Sec-Fetch-Site': 'same-origin' },
      body: new URLSearchParams({ form_token, ...values }),
    });
    keep(browser, origin, answer);
    return {
      status: answer.status,
      location: answer.headers.get('location'),
      html: await answer.text(),
    };
  };
  return { status: page.status, html, post };
}

function cookiesOf({ cookies }: Browser, origin: string): string {
  return [...cookies]
    .filter(([name]) => name.startsWith(`${origin} `))
    .map(([name, value]) => `${name.split(' ')[1]}=${value}`)
    .join('; ');
}

function keep({ cookies }: Browser, origin: string, { headers }: Response): void {
  for (const line of headers.getSetCookie()) {
    const [name = '', value = ''] = line.split(';')[0]!.split(/=(.*)/s);
    if (value === '') cookies.delete(`${origin} ${name}`);
    else cookies.set(`${origin} ${name}`, value);
  }
}
