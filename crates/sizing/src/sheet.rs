//! Every number of a sizing with its key, unit, formula and source; formulas find what they need
//! in it by key, as the cells of a spreadsheet do.

use std::collections::BTreeMap;

use plan::deployment::Figure;

use crate::number::{Number, write};

/// What is known under a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// A word.
    Word(String),
}

/// One result or input.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// Its name: `db.count`. Inputs are named as in the document.
    pub key: String,
    /// The value.
    pub value: Value,
    /// Unit of a number; empty for counts and words.
    pub unit: &'static str,
    /// How it is calculated, with names; empty for inputs.
    pub formula: String,
    /// The same with the numbers put in.
    pub numbers: String,
    /// Who says so.
    pub source: String,
}

/// The v7.6 workbook and the article of October 2015, whose formulas the numbers follow.
pub(crate) const WORKBOOK: &str = "S-W76: the v7.6 workbook, recalculated";

/// What the document says.
pub(crate) const INPUT: &str = "the deployment, or its default";

/// What we put in the place of a known mistake, or add.
pub(crate) const OWN: &str = "Plimsoll";

/// All facts in the order of their calculation.
#[derive(Clone, Debug, Default)]
pub struct Sheet {
    facts: Vec<Fact>,
    places: BTreeMap<String, usize>,
}

impl Sheet {
    /// The facts.
    pub fn facts(&self) -> &[Fact] {
        &self.facts
    }

    /// What is known under `key`.
    pub fn fact(&self, key: &str) -> Option<&Fact> {
        self.places.get(key).map(|&place| &self.facts[place])
    }

    /// The key that shares the longest end or beginning with `key`, if any shares a part of it.
    pub fn nearest(&self, key: &str) -> Option<&str> {
        let shared = |known: &str| {
            let same = |(left, right): &(char, char)| left == right;
            let front = known.chars().zip(key.chars()).take_while(same).count();
            let back = known
                .chars()
                .rev()
                .zip(key.chars().rev())
                .take_while(same)
                .count();
            front + back
        };
        let keys = self.facts.iter().map(|fact| fact.key.as_str());
        let best = keys.max_by_key(|known| shared(known))?;
        (shared(best) >= 3).then_some(best)
    }

    /// The number under `key`, where there is one.
    pub fn find(&self, key: &str) -> Option<Number> {
        match self.fact(key)?.value {
            Value::Number(value) => Some(Number::named(key, value)),
            Value::Word(_) => None,
        }
    }

    /// The number under `key`, which an earlier formula has left there.
    pub fn get(&self, key: &str) -> Number {
        let number = self.find(key);
        assert!(number.is_some(), "no number {key} so far");
        number.unwrap_or_else(|| Number::plain(0.0))
    }

    /// Writes down a result and gives it back under its name.
    pub fn put(
        &mut self,
        key: &str,
        unit: &'static str,
        source: &str,
        number: impl Into<Number>,
    ) -> Number {
        let number = number.into();
        self.push(Fact {
            key: key.to_owned(),
            value: Value::Number(number.value()),
            unit,
            formula: number.formula().to_owned(),
            numbers: number.numbers().to_owned(),
            source: source.to_owned(),
        });
        Number::named(key, number.value())
    }

    /// Writes down a word and the reason for it.
    pub(crate) fn put_word(&mut self, key: &str, source: &str, word: &str, because: &str) {
        self.push(Fact {
            key: key.to_owned(),
            value: Value::Word(word.to_owned()),
            unit: "",
            formula: because.to_owned(),
            numbers: String::new(),
            source: source.to_owned(),
        });
    }

    /// An input, which is written down when it is first used.
    pub fn input(&mut self, key: &str, unit: &'static str, value: f64) -> Number {
        self.given(key, unit, value, INPUT)
    }

    /// An input that the document gives in percent, as a share.
    pub fn share(&mut self, key: &str, share: f64) -> Number {
        self.input(key, "percent", share * 100.0) / 100.0
    }

    /// A figure of the product.
    pub fn figure(&mut self, name: &str, figure: &Figure) -> Number {
        self.given(&format!("figures.{name}"), "", figure.value, &figure.source)
    }

    fn given(&mut self, key: &str, unit: &'static str, value: f64, source: &str) -> Number {
        if !self.places.contains_key(key) {
            self.push(Fact {
                key: key.to_owned(),
                value: Value::Number(value),
                unit,
                formula: String::new(),
                numbers: String::new(),
                source: source.to_owned(),
            });
        }
        Number::named(key, value)
    }

    fn push(&mut self, fact: Fact) {
        let earlier = self.places.insert(fact.key.clone(), self.facts.len());
        assert!(earlier.is_none(), "{} is calculated twice", fact.key);
        self.facts.push(fact);
    }
}

impl Fact {
    /// The value as explanations write it, with its unit.
    pub fn written(&self) -> String {
        match &self.value {
            Value::Number(value) if self.unit.is_empty() => write(*value),
            Value::Number(value) => format!("{} {}", write(*value), self.unit),
            Value::Word(word) => word.clone(),
        }
    }

    /// Whether the value is this word.
    pub fn is_word(&self, word: &str) -> bool {
        matches!(&self.value, Value::Word(own) if own == word)
    }
}
