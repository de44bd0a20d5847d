/* report.js: a report page in a browser, used as a person uses it.
 *     node report.js PLAYWRIGHT PAGE.html FOLDER
 * PAGE is a run of tests/models/Decay.mo to t = 4: x = exp(-t). Prints a line for each case in
 * cmocka's words; pictures go to FOLDER. */
"use strict";
const path = require("path");
const { chromium } = require(process.argv[2]);
const page_file = path.resolve(process.argv[3]), folder = process.argv[4];
let failed = 0;

async function check(name, what) {
    console.log("[ RUN      ] " + name);
    let why = "";
    try {
        const answer = await what();
        if (answer !== true)
            why = "answered " + JSON.stringify(answer);
    } catch (e) {
        why = e.message;
    }
    failed += why !== "";
    console.log(why ? "[  FAILED  ] " + name + ": " + why : "[       OK ] " + name);
}

/* A page, with everything bad that happens on it. */
async function open(browser, options) {
    const context = await browser.newContext(options);
    const p = await context.newPage();
    p.trouble = [];
    p.on("console", (m) => p.trouble.push("console: " + m.text()));
    p.on("pageerror", (e) => p.trouble.push("error: " + e.message));
    p.on("dialog", (d) => { p.trouble.push("dialog"); d.dismiss(); });
    p.on("request", (r) => {
        if (!r.url().startsWith("file:" + "//") || !r.url().endsWith(path.basename(page_file)))
            p.trouble.push("request: " + r.url());
    });
    await p.goto("file:" + "//" + page_file);
    await p.waitForSelector(".u-over");
    return p;
}

const plot = (p) => p.locator(".u-over").first().boundingBox();

/* What the first panel's legend says with the mouse at a part of its width. */
async function reading(p, part) {
    const box = await plot(p);
    await p.mouse.move(box.x + part * box.width, box.y + box.height / 2, { steps: 3 });
    await p.waitForTimeout(50);
    const text = await p.locator(".uplot").first().locator(".u-value").allInnerTexts();
    return text.map(Number);
}

async function zoom(p, from, to) {
    const box = await plot(p), y = box.y + box.height / 2;
    await p.mouse.move(box.x + from * box.width, y);
    await p.mouse.down();
    await p.mouse.move(box.x + to * box.width, y, { steps: 5 });
    await p.mouse.up();
    await p.waitForTimeout(50);
}

async function at_a_desk(browser) {
    const p = await open(browser, { viewport: { width: 1280, height: 900 } });
    const labels = () => p.locator(".u-legend .u-label").allInnerTexts();
    await check("before the mouse comes there is no value", async () =>
        (await p.locator(".u-value").first().innerText()) === "–");
    await check("hovering shows time and value", async () => {
        const [t, x] = await reading(p, 0.5);
        return (Math.abs(t - 2) < 0.05 && Math.abs(x - Math.exp(-t)) < 1e-4) || [t, x];
    });
    await p.screenshot({ path: folder + "/report-1280.png", fullPage: true });
    await check("dragging zooms", async () => {
        await zoom(p, 0.25, 0.5);
        const [left] = await reading(p, 0.02), [right] = await reading(p, 0.98);
        return (Math.abs(left - 1) < 0.06 && Math.abs(right - 2) < 0.06) || [left, right];
    });
    await check("zooming again goes deeper", async () => {
        await zoom(p, 0.2, 0.4);
        const [left] = await reading(p, 0.02), [right] = await reading(p, 0.98);
        return (Math.abs(left - 1.2) < 0.05 && Math.abs(right - 1.4) < 0.05) || [left, right];
    });
    await check("a double click shows all again", async () => {
        const box = await plot(p);
        await p.mouse.dblclick(box.x + box.width / 2, box.y + box.height / 2);
        await p.waitForTimeout(50);
        const [left] = await reading(p, 0.01), [right] = await reading(p, 0.99);
        return (left < 0.1 && right > 3.9) || [left, right];
    });
    await check("a check mark adds a curve, to the panel of its unit", async () => {
        const before = await labels(), count = await p.locator(".uplot").count();
        await p.locator("#list label", { hasText: /^y/ }).first().click();
        const after = await labels();
        return (after.length === before.length + 1 && after.includes("y [m]") &&
                await p.locator(".uplot").count() === count) || after;
    });
    await check("another unit gets a panel of its own", async () => {
        const count = await p.locator(".uplot").count();
        await p.locator("#list label", { hasText: /^angle/ }).first().click();
        return await p.locator(".uplot").count() === count + 1;
    });
    await check("panels zoom together", async () => {
        await zoom(p, 0.5, 0.75);
        const box = await p.locator(".u-over").nth(1).boundingBox();
        await p.mouse.move(box.x + 2, box.y + box.height / 2);
        await p.waitForTimeout(50);
        const t = Number(await p.locator(".uplot").nth(1).locator(".u-value").first().innerText());
        await p.locator("#reset").click();
        return Math.abs(t - 2) < 0.06 || t;
    });
    await check("the second click takes it away", async () => {
        await p.locator("#list label", { hasText: /^y/ }).first().click();
        return !(await labels()).includes("y [m]");
    });
    await check("search", async () => {
        const all = await p.locator("#list label").count();
        await p.locator("#search").fill("ANG");
        const few = await p.locator("#list label").allInnerTexts();
        await p.locator("#search").fill("nothing like it");
        const note = await p.locator("#list p").innerText();
        await p.locator("#search").fill("");
        return (all > 3 && few.length === 1 && few[0].startsWith("angle") &&
                note.includes("no variable") &&
                await p.locator("#list label").count() === all) || few;
    });
    await check("clear, and a word instead of curves", async () => {
        await p.locator("#none").click();
        return await p.locator(".uplot").count() === 0 &&
            await p.locator("#list input:checked").count() === 0;
    });
    await check("names that look like markup are text", async () => {
        const name = "'</script><img src=x onerror=alert(1)>'";
        await p.locator("#list label", { hasText: "onerror" }).first().click();
        return (await labels()).includes(name) && await p.locator("img").count() === 0;
    });
    await check("light and dark", async () => {
        const colour = () => p.evaluate(() => getComputedStyle(document.body).backgroundColor);
        const before = await colour();
        await p.locator("#theme").click();
        const after = await colour();
        await p.locator("#theme").click();
        return (before !== after && await colour() === before) || [before, after];
    });
    await check("the structure: a matrix with its entries named, the signature", async () => {
        const box = await p.locator("#structure svg").boundingBox();
        const titles = await p.locator("#structure .hit title").allTextContents();
        const cells = await p.locator(".signature td.match").count();
        const rows = await p.locator(".signature tr").count();
        return (box.width > 200 && Math.abs(box.width - box.height) < 2 && cells === rows - 2 &&
                titles.some((t) => t.startsWith("der(x) in 'der(x) = ")) ) || [box, titles, cells, rows];
    });
    await check("the model's text, with numbers of lines", async () => {
        await p.locator("#text summary").click();
        const text = await p.locator("#text pre").innerText();
        return text.includes("der(x) = -k * x") && text.includes("</script>") || text;
    });
    await check("nothing was loaded, nothing complained", async () =>
        p.trouble.length === 0 || p.trouble);
}

async function on_a_phone(browser) {
    const p = await open(browser, { viewport: { width: 390, height: 844 }, hasTouch: true,
                                    isMobile: true, colorScheme: "dark" });
    await check("a phone's width is enough", async () => {
        const width = await p.evaluate(() => document.documentElement.scrollWidth);
        return width <= 390 || width;
    });
    await check("a tap shows a value", async () => {
        const box = await plot(p);
        await p.touchscreen.tap(box.x + box.width / 2, box.y + box.height / 2);
        await p.waitForTimeout(50);
        const [t, x] = (await p.locator(".uplot").first().locator(".u-value").allInnerTexts())
            .map(Number);
        return (Math.abs(t - 2) < 0.1 && Math.abs(x - Math.exp(-t)) < 1e-4) || [t, x];
    });
    await check("a phone: the structure fits", async () => {
        const box = await p.locator("#structure svg").boundingBox();
        return (box.x >= 0 && box.x + box.width <= 390 && box.width > 200) || box;
    });
    await p.screenshot({ path: folder + "/report-390.png", fullPage: true });
    await check("a phone: nothing complained", async () => p.trouble.length === 0 || p.trouble);
}

(async () => {
    const browser = await chromium.launch({ executablePath: "/usr/bin/chromium",
                                            args: ["--no-sandbox", "--disable-gpu"] });
    await at_a_desk(browser);
    await on_a_phone(browser);
    await browser.close();
    process.exit(failed ? 1 : 0);
})().catch((e) => { console.log("[  FAILED  ] the browser: " + e.message); process.exit(2); });
