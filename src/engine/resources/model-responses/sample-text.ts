/** What an answer says of its own, in the languages that it can be asked for; quotations stay as they are. */
export type Language = "en" | "de" | "fr" | "it" | "es";

/** How each is asked for, in English or in itself. */
export const LANGUAGES: readonly { language: Language; asked: RegExp }[] = [
  { language: "de", asked: /\b(?:in|speak|write|use) (?:\w+ )?german\b|\bauf deutsch\b/i },
  { language: "fr", asked: /\b(?:in|speak|write|use) (?:\w+ )?french\b|\ben français\b/i },
  { language: "it", asked: /\b(?:in|speak|write|use) (?:\w+ )?italian\b|\bin italiano\b/i },
  { language: "es", asked: /\b(?:in|speak|write|use) (?:\w+ )?spanish\b|\ben español/i },
  { language: "en", asked: /\b(?:in|speak|write|use) (?:\w+ )?english\b|\bauf englisch\b/i },
];

export interface Phrases {
  openings: readonly string[];
  advice: readonly string[];
  citing: readonly string[];
  closings: readonly string[];
  /** Before what the user, or the model, said in an earlier turn. */
  youSaid: string;
  iSaid: string;
  nothingSaid: string;
  yourRequest: string;
  yes: string;
  no: string;
}

export const PHRASES: Readonly<Record<Language, Phrases>> = {
  en: {
    openings: [
      "Here is what I can say about",
      "In short, on",
      "This is how I understand",
      "Let me take this in order, starting with",
    ],
    advice: [
      "the usual way is to begin with the smallest step that can be checked.",
      "it depends on who has to act on it, so name that person first.",
      "the answer is the same for every team, with one exception to agree beforehand.",
      "three things matter: the goal, the deadline and who decides.",
    ],
    citing: ["According to", "As stated in", "I found this in", "The relevant passage of"],
    closings: [
      "That should answer your question.",
      "Tell me if you need the wider context.",
      "Nothing else in it bears on your question.",
    ],
    youSaid: "You said earlier:",
    iSaid: "I said earlier:",
    nothingSaid: "Nothing was said before in this conversation.",
    yourRequest: "your request",
    yes: "Yes",
    no: "No",
  },
  de: {
    openings: ["Dazu lässt sich sagen, zu", "Kurz gefasst, zu", "So verstehe ich"],
    advice: [
      "am besten beginnt man mit dem kleinsten Schritt, der sich prüfen lässt.",
      "es kommt darauf an, wer handeln muss; diese Person ist zuerst zu nennen.",
      "drei Dinge zählen: das Ziel, die Frist und wer entscheidet.",
    ],
    citing: ["Laut", "So steht es in", "Das fand ich in"],
    closings: ["Das sollte Ihre Frage beantworten.", "Gern nenne ich auch den Zusammenhang."],
    youSaid: "Sie sagten vorhin:",
    iSaid: "Ich sagte vorhin:",
    nothingSaid: "In diesem Gespräch wurde zuvor nichts gesagt.",
    yourRequest: "Ihrer Anfrage",
    yes: "Ja",
    no: "Nein",
  },
  fr: {
    openings: ["Voici ce que je peux dire sur", "En bref, sur", "Voici comment je comprends"],
    advice: [
      "mieux vaut commencer par la plus petite étape vérifiable.",
      "tout dépend de qui doit agir ; nommez d'abord cette personne.",
      "trois choses comptent : le but, le délai et qui décide.",
    ],
    citing: ["Selon", "Comme indiqué dans", "J'ai trouvé ceci dans"],
    closings: ["Cela devrait répondre à votre question.", "Dites-moi s'il vous faut le contexte."],
    youSaid: "Vous avez dit plus tôt :",
    iSaid: "J'ai dit plus tôt :",
    nothingSaid: "Rien n'a été dit auparavant dans cette conversation.",
    yourRequest: "votre demande",
    yes: "Oui",
    no: "Non",
  },
  it: {
    openings: ["Ecco che cosa posso dire su", "In breve, su", "Ecco come intendo"],
    advice: [
      "conviene cominciare dal passo più piccolo che si possa verificare.",
      "dipende da chi deve agire; indicate prima quella persona.",
      "contano tre cose: lo scopo, la scadenza e chi decide.",
    ],
    citing: ["Secondo", "Come indicato in", "L'ho trovato in"],
    closings: ["Questo dovrebbe rispondere alla domanda.", "Ditemi se serve il contesto."],
    youSaid: "Prima avete detto:",
    iSaid: "Prima ho detto:",
    nothingSaid: "In questa conversazione non è stato detto nulla prima.",
    yourRequest: "la vostra richiesta",
    yes: "Sì",
    no: "No",
  },
  es: {
    openings: ["Esto es lo que puedo decir sobre", "En resumen, sobre", "Así entiendo"],
    advice: [
      "conviene empezar por el paso más pequeño que se pueda comprobar.",
      "depende de quién tenga que actuar; nombre primero a esa persona.",
      "importan tres cosas: el objetivo, el plazo y quién decide.",
    ],
    citing: ["Según", "Como consta en", "Lo encontré en"],
    closings: ["Eso debería responder a su pregunta.", "Dígame si necesita el contexto."],
    youSaid: "Antes usted dijo:",
    iSaid: "Antes dije:",
    nothingSaid: "No se ha dicho nada antes en esta conversación.",
    yourRequest: "su solicitud",
    yes: "Sí",
    no: "No",
  },
};
