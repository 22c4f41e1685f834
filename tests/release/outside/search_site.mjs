// Asks the search of a built site, as a page does: node search_site.mjs SITE WORDS… prints one JSON line for each.
import { readFileSync, readdirSync } from 'node:fs'
import { runInThisContext } from 'node:vm'

const [site, ...queries] = process.argv.slice(2)
const folder = `${site}/assets/javascripts/workers`
const [worker] = readdirSync(folder).filter(name => name.startsWith('search'))
const answers = []
globalThis.self = { postMessage: answer => answers.push(answer) }
runInThisContext(readFileSync(`${folder}/${worker}`, 'utf8'))

async function asked(message) {
    self.onmessage({ data: message })
    for (let tries = 0; tries < 1000 && answers.length === 0; tries++)
        await new Promise(resolve => setTimeout(resolve, 10))
    return answers.shift()
}

const index = JSON.parse(readFileSync(`${site}/search.json`, 'utf8'))
await asked({ type: 0, data: index })
for (const input of queries) {
    const { data } = await asked({ type: 2, data: { input } })
    console.log(JSON.stringify(data.items.map(item => index.items[item.id].location)))
}
